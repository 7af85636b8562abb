/** Right and wrong answers of some items. */
export interface Outcomes {
  readonly passed: number;
  readonly wrong: number;
}

/** A slice that may be worse than the rest. */
export interface TestedSlice<Slice> {
  readonly slice: Slice;
  /** Shares of right answers among the scored ones, in the slice and in the rest. */
  readonly share: number;
  readonly restShare: number;
  readonly scored: number;
  /** One-sided p-value of Fisher's exact test, adjusted after Benjamini and Hochberg (1995). */
  readonly q: number;
}

/**
 * Tests whether slices are worse than the rest of a run: for each one Fisher's exact test of right and wrong answers, with
 * the false discovery rate held over all of them. The most certain come first.
 *
 * @param whole outcomes of all results
 */
export function worseThanRest<Slice extends Outcomes>(
  slices: readonly Slice[],
  whole: Outcomes,
): readonly TestedSlice<Slice>[] {
  const total = whole.passed + whole.wrong;
  const tested = slices.flatMap((slice) => {
    const scored = slice.passed + slice.wrong;
    const rest = total - scored;
    if (scored === 0 || rest <= 0) return [];
    const [share, restShare] = [slice.passed / scored, (whole.passed - slice.passed) / rest];
    // a slice that is not worse has a p of more than a half
    const p = share >= restShare ? 1 : upperTail(total, whole.wrong, scored, slice.wrong);
    return [{ slice, share, restShare, scored, p }];
  });
  const ordered = tested.toSorted((a, b) => a.p - b.p);
  let q = 1;
  return ordered
    .toReversed()
    .map(({ p, ...one }, at) => {
      q = Math.min(q, (p * ordered.length) / (ordered.length - at));
      return { ...one, q };
    })
    .toReversed();
}

/** The probability to draw at least `least` of `wrong` among `drawn` of `total` (hypergeometric). */
function upperTail(total: number, wrong: number, drawn: number, least: number): number {
  const most = Math.min(wrong, drawn);
  let term = Math.exp(
    logChoose(wrong, least) + logChoose(total - wrong, drawn - least) - logChoose(total, drawn),
  );
  let sum = 0;
  for (let at = least; at <= most; at += 1) {
    sum += term;
    // the slice is worse than the whole, so that terms only become smaller
    if (term < sum * Number.EPSILON) break;
    term *= ((wrong - at) * (drawn - at)) / ((at + 1) * (total - wrong - drawn + at + 1));
  }
  return Math.min(1, sum);
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** From here on, three terms of Stirling's series have every digit. */
const STIRLING_FROM = 32;

function logFactorial(n: number): number {
  if (n >= STIRLING_FROM) {
    const series = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
    return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + series;
  }
  let product = 1;
  for (let factor = 2; factor <= n; factor += 1) product *= factor;
  return Math.log(product);
}
