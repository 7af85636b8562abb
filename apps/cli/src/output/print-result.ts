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

/** Writes JSON with members in their order and numbers with all their digits. */
export function jsonText(value: unknown, indent: number = 0): string {
  const keepDigits = (_key: string, member: unknown) =>
    member instanceof ExactNumber ? rawJson(member.text) : member;
  return JSON.stringify(value, keepDigits, indent);
}

/** `JSON.rawJSON` (ECMAScript 2026), which the compiler's library does not declare yet. */
const rawJson = (text: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
