import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { ExactNumber } from '@svc/jsonl-v23/json';
import type { Cli } from '../cli-context.ts';
import { printableJson } from '../text/printable-text.ts';
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

/** Writes JSON with members in their order and numbers with all their digits. */
export function jsonText(value: unknown, indent: number = 0): string {
  // `JSON.rawJSON` is missing in Node 20. No other text has the mark.
  const mark = randomUUID();
  const text = JSON.stringify(withMarks(value, mark), null, indent);
  return text.includes(mark) ? text.replaceAll(new RegExp(`"${mark}([-+.0-9Ee]+)${mark}"`, 'g'), '$1') : text;
}

/** The same value with long numbers as marked texts. */
function withMarks(value: unknown, mark: string): unknown {
  if (value instanceof ExactNumber) return `${mark}${value.text}${mark}`;
  if (Array.isArray(value)) return value.map((member) => withMarks(member, mark));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withMarks(member, mark)]));
}
