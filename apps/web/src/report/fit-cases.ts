/** A text of a report, with how long it was before it was cut. */
export interface CutText {
  readonly text: string;
  readonly length: number;
}

/** A result, or a pair of results, with its texts in the order of the columns of the report. */
export interface ReportCase {
  readonly kind: 'error' | 'wrong' | 'right' | 'unscored' | 'worse' | 'better' | 'other';
  readonly id: string;
  readonly texts: readonly CutText[];
  /** Scores and times. */
  readonly numbers: readonly string[];
}

/** Lengths to which texts are shortened, the longest that fits first. */
const LENGTHS = [20_000, 10_000, 5_000, 2_000, 1_000, 500, 250, 120, 60, 30] as const;

/** Bytes of markup around the texts of a case. */
const CASE_BYTES = 275;

/** Characters that are kept of a text, of the first cases and of the rest, before it is known how many cases there are. */
const KEPT = [LENGTHS[0], 2_000] as const;
const FIRST_CASES = 1_000;

/** A text for the case at a place, cut to what a report may need of it. */
export const cutText = (text: string, at: number): CutText => ({
  text: text.slice(0, at < FIRST_CASES ? KEPT[0] : KEPT[1]),
  length: text.length,
});

/** Whether a report leaves out what matters least: right results and equal pairs. */
const isMain = ({ kind }: ReportCase): boolean => kind !== 'right' && kind !== 'unscored';

/**
 * Chooses the longest texts that leave room for all errors, wrong results and differences, and then as many of the others as
 * fit.
 *
 * @param cases what matters first
 * @param maxBytes of all cases
 * @returns the cases, and the characters of a text: longer ones are shortened
 */
export function fitCases(
  cases: readonly ReportCase[],
  maxBytes: number,
): { readonly cases: readonly ReportCase[]; readonly length: number } {
  const main = cases.filter(isMain);
  const length = LENGTHS.find((one) => bytesOf(main, one) <= maxBytes) ?? LENGTHS[LENGTHS.length - 1] ?? 0;
  let bytes = 0;
  const end = cases.findIndex((one) => {
    bytes += bytesOf([one], length);
    return bytes > maxBytes;
  });
  return { cases: end === -1 ? cases : cases.slice(0, end), length };
}

/** Upper bound of the size in bytes: each text is escaped, and a character may take four bytes. */
const bytesOf = (cases: readonly ReportCase[], length: number): number =>
  cases.reduce(
    (sum, { id, texts }) =>
      sum +
      CASE_BYTES +
      sizeOf(id) +
      texts.reduce((size, { text }) => size + sizeOf(text.slice(0, length)), 0),
    0,
  );

const encoder = new TextEncoder();
const ESCAPED = /[&<>"']/g;

/** Bytes of a text in HTML. */
const sizeOf = (text: string): number => encoder.encode(text).length + 5 * (text.match(ESCAPED)?.length ?? 0);
