/** One side of a comparison: does its work once and gives what it measured. */
export interface Sample {
  readonly seconds: number;
  /** Most memory of the measured process, where that was looked at. */
  readonly peakBytes?: number;
}

export interface Case {
  readonly name: string;
  readonly baseline: string;
  /** What the ratio should be at most (or at least, for `higherIsBetter`). */
  readonly target?: number;
  readonly higherIsBetter?: boolean;
  readonly runOurs: () => Promise<Sample>;
  readonly runBaseline: () => Promise<Sample>;
}

export interface Measured {
  readonly name: string;
  readonly baseline: string;
  readonly ratio: Spread;
  readonly ours: Spread;
  readonly theirs: Spread;
  readonly peakBytes: number | undefined;
  readonly target: number | undefined;
  readonly higherIsBetter: boolean;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Times a piece of work. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<Sample> {
  const startedAt = performance.now();
  await work();
  return { seconds: (performance.now() - startedAt) / 1000 };
}

/** Runs both sides in turn, so that whatever else the machine does falls on both, and compares pair by pair. */
export async function measure(one: Case, rounds: number): Promise<Measured> {
  const pairs: { ours: Sample; theirs: Sample }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0;
    const first = order ? await one.runBaseline() : await one.runOurs();
    const second = order ? await one.runOurs() : await one.runBaseline();
    pairs.push(order ? { theirs: first, ours: second } : { ours: first, theirs: second });
  }
  const higher = one.higherIsBetter ?? false;
  const peaks = pairs.flatMap(({ ours }) => (ours.peakBytes === undefined ? [] : [ours.peakBytes]));
  return {
    name: one.name,
    baseline: one.baseline,
    // Rates are the inverse of times: three quarters of the time is four thirds of the rate.
    ratio: spread(
      pairs.map(({ ours, theirs }) =>
        higher ? theirs.seconds / ours.seconds : ours.seconds / theirs.seconds,
      ),
    ),
    ours: spread(pairs.map(({ ours }) => ours.seconds)),
    theirs: spread(pairs.map(({ theirs }) => theirs.seconds)),
    peakBytes: peaks.length === 0 ? undefined : Math.max(...peaks),
    target: one.target,
    higherIsBetter: higher,
  };
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  };
}
