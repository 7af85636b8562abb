/** One bar of a histogram. */
export interface Bin {
  readonly label: string;
  readonly count: number;
}

const MAX_BINS = 20;

/** Sorts values into at most twenty bins of equal width; a few different values get a bin each. */
export function binsOf(values: readonly number[], format: (value: number) => string): readonly Bin[] {
  if (values.length === 0) return [];
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least === most) return [{ label: format(least), count: values.length }];
  const size = Math.min(MAX_BINS, Math.ceil(Math.sqrt(values.length)) + 1);
  const width = (most - least) / size;
  const counts = new Array<number>(size).fill(0);
  for (const value of values) {
    const at = Math.min(size - 1, Math.floor((value - least) / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, at) => ({
    label: `${format(least + at * width)} – ${format(least + (at + 1) * width)}`,
    count,
  }));
}
