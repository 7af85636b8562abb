import type { Writable } from 'node:stream';
import type { Cli } from '../cli-context.ts';
import { printableJson, printableText } from '../text/printable-text.ts';
import { writeText } from './write-text.ts';

/** The result of a command, in both forms. */
export interface Result {
  /** Complete lines, for people. */
  text(): string;
  /** One JSON document, for machines. */
  json(): string;
}

/**
 * Prints a result on standard output, or on `stream` if standard output has something else.
 *
 * @throws what the stream fails with
 */
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
