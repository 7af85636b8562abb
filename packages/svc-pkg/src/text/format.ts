import { canonicalJson, ExactNumber, type JsonValue, jsonText } from '@svc/jsonl-v23/json';

const MAX_VALUE_LENGTH = 200;

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The escape of a UTF-16 unit in JSON. */
export const escapeOf = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** @param isKept whether a character stays @returns text whose unprintable characters are escapes */
const escaped = (text: string, isKept: (character: string, next: string | undefined) => boolean): string =>
  text.replace(UNPRINTABLE, (character, index: number) =>
    isKept(character, text[index + 1]) ? character : escapeOf(character),
  );

/**
 * Makes text safe for a terminal, because archives and responses are untrusted input: escapes control characters (C0,
 * DEL, C1), line and paragraph separators, and the marks that reorder text. With `keepLines`, line feeds stay.
 */
export const printableText = (
  text: string,
  { keepLines = false }: { readonly keepLines?: boolean } = {},
): string => escaped(text, (character) => keepLines && character === '\n');

/** Makes lines of data safe for a terminal, with tabs and the ends of lines. */
export const printableData = (text: string): string =>
  escaped(text, (character, next) => /[\n\t]/.test(character) || (character === '\r' && next === '\n'));

/**
 * Escapes the same characters in a JSON document, except its white space. Elsewhere they can only be in strings, where
 * an escape means the same.
 */
export const printableJson = (document: string): string =>
  escaped(document, (character) => /[\n\r\t]/.test(character));

/** One line of printable text, cut after 200 characters. */
export function printableValue(text: string): string {
  const shown =
    text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1).toWellFormed()}…` : text;
  return printableText(shown);
}

export type Facts = readonly (readonly [name: string, value: string | number | null | undefined])[];

/** Formats names and values, one pair per line, the values in one column; leaves out pairs without a value. */
export function formatFacts(facts: Facts): string {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printableText(String(value))}\n`).join('');
}

/** `1 item`, `2 items`. */
export function countOf(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const MAX_CELL_LENGTH = 60;

/** Formats rows under their column names for people; long cells are cut, empty columns stay. */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly (string | number | boolean | null | undefined)[])[],
): string {
  const texts = rows.map((row) => columns.map((_, index) => cellText(row[index])));
  const widths = columns.map((name, index) =>
    texts.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), name.length),
  );
  const line = (cells: readonly string[]): string =>
    `${cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  return [line(columns), ...texts.map(line)].join('');
}

function cellText(value: string | number | boolean | null | undefined): string {
  const text = printableValue(value === null || value === undefined ? '' : String(value));
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH - 1)}…` : text;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${bytes} bytes` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

interface Notes {
  readonly warnings?: readonly string[] | undefined;
  readonly unused_columns?: readonly string[] | undefined;
  readonly unused_columns_total?: number | undefined;
  readonly skipped_files?: readonly { readonly name: string; readonly reason: string }[] | undefined;
  readonly skipped_files_total?: number | undefined;
}

const MAX_NAMED = 10;

/** Warnings, a line each, and in a line the columns that no key uses and the files that are passed over. */
export function noteFacts({
  warnings = [],
  unused_columns: columns = [],
  unused_columns_total: columnCount = columns.length,
  skipped_files: files = [],
  skipped_files_total: total = files.length,
}: Notes): [name: string, value: string][] {
  const named = files.slice(0, MAX_NAMED).map(({ name, reason }) => printableValue(`${name} (${reason})`));
  const unused = columns.slice(0, MAX_NAMED).map(printableValue);
  return [
    ...warnings.map((warning): [string, string] => ['warning', printableValue(warning)]),
    ...listFact('not used', unused, columnCount, ' (--keep-unmapped)'),
    ...listFact('passed over', named, total),
  ];
}

function listFact(
  name: string,
  named: readonly string[],
  total: number,
  hint = '',
): [name: string, value: string][] {
  const more = total > named.length ? ` and ${total - named.length} more` : '';
  return total === 0 ? [] : [[name, `${named.join(', ')}${more}${hint}`]];
}

export function intervalText(interval: readonly number[] | null | undefined): string | null {
  return interval == null ? null : interval.map((bound) => rounded(bound)).join(' to ');
}

/** Four significant digits are enough for people. */
export function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value.toPrecision(4));
}

const MAX_CODE_POINTS = 300;

/** How the runners of CI systems find commands inside a line of a log: `##[error]`, `##vso[...]`, `##teamcity[...]`. */
const LOG_COMMAND = /##(?=\w{0,20}\[)/g;

/**
 * One line of a text of unknown origin for reports and logs: it makes white space one blank, cuts long texts, and
 * escapes control characters, and commands to CI systems inside a line. It must not begin a line.
 */
export function reportText(value: string): string {
  const start = value.slice(0, 10 * MAX_CODE_POINTS);
  const line = start.toWellFormed().replaceAll(/\s+/g, ' ').trim();
  const points = [...line];
  const isCut = points.length > MAX_CODE_POINTS || start.length < value.length;
  const shown = isCut ? `${points.slice(0, MAX_CODE_POINTS - 1).join('')}…` : line;
  return printableText(shown).replace(LOG_COMMAND, '#\\u0023');
}

/** A JSON value as one line for reports and logs; undefined if there is none. */
export function reportValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return reportText(typeof value === 'string' ? value : canonicalJson(value as JsonValue));
}

export function pointsText(difference: number): string {
  const points = Number((difference * 100).toPrecision(3));
  return String(points === 0 ? 0 : points);
}

const MAX_STRING_LENGTH = 200;
const MAX_ENTRIES = 20;

/**
 * Formats a JSON value over several lines for people: cuts long strings, lists and objects, with a mark, and escapes
 * everything that could move the cursor.
 */
export function sampleText(value: unknown, indent: string): string {
  const text = printableText(jsonText(shortened(value), 2), { keepLines: true });
  return `${indent}${text.replaceAll('\n', `\n${indent}`)}\n`;
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.length <= MAX_STRING_LENGTH) return value;
    return `${value.slice(0, MAX_STRING_LENGTH).toWellFormed()}... (${value.length} characters)`;
  }
  if (Array.isArray(value)) {
    const entries = value.slice(0, MAX_ENTRIES).map(shortened);
    return value.length > MAX_ENTRIES ? [...entries, `... (${value.length} entries)`] : entries;
  }
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_ENTRIES).map(([key, member]) => [key, shortened(member)] as const);
  if (entries.length > MAX_ENTRIES) shown.push(['...', `(${entries.length} keys)`]);
  return Object.fromEntries(shown);
}
