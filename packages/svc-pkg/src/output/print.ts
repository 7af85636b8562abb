import { Writable } from 'node:stream';
import type { Page, PageQuery, RunResult } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/json';
import type { Cli } from '../cli-context.ts';
import { usageError } from '../errors/cli-error.ts';
import { listPages } from '../service/service-client.ts';
import {
  type Facts,
  formatFacts,
  formatTable,
  printableData,
  printableJson,
  printableText,
} from '../text/format.ts';

/** Writes to a stream and waits until it has accepted the bytes, so that a slow reader slows the writer. */
export function writeText(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

export interface Result {
  /** Complete lines, for people. */
  text(): string;
  /** One JSON document, for machines. */
  json(): string;
}

/** A result whose text is names and values. @param document a value, or JSON as it arrived */
export const factsResult = (facts: Facts | (() => Facts), document: unknown): Result => ({
  text: () => formatFacts(typeof facts === 'function' ? facts() : facts),
  json: () => (typeof document === 'string' ? document : jsonText(document)),
});

/** Prints a result on standard output, or on `stream` if standard output has something else. */
export async function printResult(cli: Cli, result: Result, stream: Writable = cli.stdout): Promise<void> {
  await writeText(stream, cli.json ? `${printableJson(result.json().trimEnd())}\n` : result.text());
}

/** Prints what a command did, unless "--quiet" asks for nothing but errors; with "--json", you asked for the document. */
export async function printReport(cli: Cli, result: Result, stream: Writable = cli.stdout): Promise<void> {
  if (!cli.quiet || cli.json) await printResult(cli, result, stream);
}

/** Says something before the result, also in a pipe, such as the log of a CI system; nothing with `--json` or `--quiet`. */
export async function printNote(cli: Cli, note: string): Promise<void> {
  if (cli.quiet || cli.json) return;
  await writeText(cli.stderr, `${printableText(note)}\n`).catch(() => undefined);
}

/** Names the next command on a terminal; prints nothing in a pipe, with `--json` or with `--quiet`. */
export async function printHint(cli: Cli, hint: string): Promise<void> {
  if (cli.isTerminal) await printNote(cli, hint);
}

type ListPage<T> = Page<T> & { readonly meta: { readonly total_items?: number | null } };

type Column<T> = (entry: T) => string | number | boolean | null | undefined;

/** Prints up to `limit` entries of a list: a table for people, `{data, total}` for machines. */
export async function printListing<T>(
  cli: Cli,
  limit: number,
  read: (page: PageQuery) => Promise<{ data?: ListPage<T>; response: Response }>,
  columns: Readonly<Record<string, Column<T>>>,
): Promise<void> {
  const { data, meta } = await listPages(limit, read);
  // Null if the service does not say.
  const total = meta.total_items ?? null;
  const rowOf = (entry: T) => Object.values(columns).map((cell) => cell(entry));
  await printResult(cli, {
    text: () => formatTable(Object.keys(columns), data.map(rowOf)),
    json: () => jsonText({ data, total }),
  });
  if (total !== null && total > data.length) {
    await printHint(cli, `${data.length} of ${total} are shown; --limit shows more`);
  }
}

type PlacedResult = Pick<RunResult, 'section' | 'order_index' | 'item_id' | 'repetition'>;

/** The columns that say which result of a run a row is about. */
export const RESULT_COLUMNS: Readonly<Record<'section' | 'item' | 'repetition', Column<PlacedResult>>> = {
  section: ({ section }) => section,
  item: ({ order_index, item_id }) => (item_id == null ? order_index : String(item_id)),
  repetition: ({ repetition }) => repetition,
};

/**
 * Does the work of a command for each of its files, in order, and ends at the first that fails. With `--json`, several files
 * make one list, with the documents of the files before an error.
 */
export async function eachPath(
  cli: Cli,
  paths: readonly string[],
  work: (cli: Cli, path: string) => Promise<void>,
): Promise<void> {
  if (paths.length === 1 || !cli.json) {
    for (const path of paths) await work(cli, path);
    return;
  }
  const documents: string[] = [];
  for (const path of paths) {
    const chunks: Buffer[] = [];
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
    try {
      await work({ ...cli, stdout }, path);
    } catch (error) {
      if (documents.length > 0) await printList(cli, documents);
      throw error;
    }
    documents.push(Buffer.concat(chunks).toString().trimEnd());
  }
  await printList(cli, documents);
}

const printList = ({ stdout }: Cli, documents: readonly string[]): Promise<void> =>
  writeText(stdout, `[${documents.join(',')}]\n`);

/** Writes data of a service to standard output: byte for byte, but on a terminal with escaped control characters. */
export function dataWriter({ stdout, isOutputTerminal }: Cli): (chunk: Uint8Array) => Promise<void> {
  if (!isOutputTerminal) return (chunk) => writeText(stdout, chunk);
  const decoder = new TextDecoder();
  return (chunk) => writeText(stdout, printableData(decoder.decode(chunk, { stream: true })));
}

/** A terminal cannot show an archive or a Parquet file. @throws CliError `usage` */
export function refuseTerminal({ isOutputTerminal }: Cli): void {
  if (!isOutputTerminal) return;
  throw usageError('Standard output is a terminal; redirect it, or name a file with --output');
}
