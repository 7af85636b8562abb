import type { ReportRow } from './report-rows.ts';

/** Lengths to which texts are shortened, the longest that fits first. */
const LENGTHS = [2_000, 1_000, 500, 250, 120, 60, 30] as const;

/** Bytes of markup around the texts of a row. */
const ROW_BYTES = 275;

/** Which results a report holds, and how long their texts are. */
export interface FittedRows {
  readonly rows: readonly ReportRow[];
  /** Characters of a text; longer ones are shortened. */
  readonly length: number;
}

/**
 * Chooses the longest texts that leave room for all errors and wrong results, and then as many of the others as fit.
 *
 * @param rows errors and wrong results first
 * @param maxBytes of all rows
 */
export function fitRows(rows: readonly ReportRow[], maxBytes: number): FittedRows {
  const first = rows.filter(({ kind }) => kind === 'error' || kind === 'wrong');
  const length = LENGTHS.find((one) => bytesOf(first, one) <= maxBytes) ?? LENGTHS[LENGTHS.length - 1] ?? 0;
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += bytesOf([row], length);
    return bytes > maxBytes;
  });
  return { rows: end === -1 ? rows : rows.slice(0, end), length };
}

/** Upper bound of the size in bytes: each text is escaped, and a character may take four bytes. */
function bytesOf(rows: readonly ReportRow[], length: number): number {
  return rows.reduce(
    (sum, { id, question, expected, got, why }) =>
      sum +
      ROW_BYTES +
      [id, question, expected, got, why].reduce((size, text) => size + sizeOf(text.slice(0, length)), 0),
    0,
  );
}

const encoder = new TextEncoder();
const ESCAPED = /[&<>"']/g;

/** Bytes of a text in HTML. */
const sizeOf = (text: string): number => encoder.encode(text).length + 5 * (text.match(ESCAPED)?.length ?? 0);
