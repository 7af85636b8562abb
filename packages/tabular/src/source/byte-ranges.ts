import type { ByteInterval } from '../parquet/parquet-codec.ts';
import type { ByteSource } from './byte-source.ts';

/** Part of a file that is fetched by one request. */
export interface ByteRuns {
  /** The bytes of one of the intervals that were asked for. */
  get(interval: ByteInterval): Promise<Uint8Array>;
  /** Gives back the memory of all bytes, once all are here: what `get` gave out can no longer be read. */
  release(): Promise<void>;
}

/**
 * Joins intervals that lie side by side, or nearly so: reading over a gap costs less than another request.
 *
 * @returns disjoint intervals in order, which together cover all of `intervals`
 */
function joinIntervals(
  intervals: readonly ByteInterval[],
  limits: { maxGapBytes: number; maxRunBytes: number },
): ByteInterval[] {
  const runs: ByteInterval[] = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = runs.at(-1);
    const overlaps = last !== undefined && start < last.end;
    const near = last !== undefined && start - last.end <= limits.maxGapBytes;
    if (overlaps || (near && end - last.start <= limits.maxRunBytes)) last!.end = Math.max(last!.end, end);
    else runs.push({ start, end });
  }
  return runs;
}

/** Requests of one file that are under way at the same time. */
const CONCURRENT_RUNS = 4;

/** Starts to fetch intervals in as few requests as their gaps allow. A failure shows where the bytes are taken. */
export function fetchRanges(
  file: ByteSource,
  intervals: readonly ByteInterval[],
  limits: { maxGapBytes: number; maxRunBytes: number },
  signal: AbortSignal,
): ByteRuns {
  const runs = joinIntervals(
    intervals.filter(({ start, end }) => end > start),
    limits,
  );
  const fetched: Array<Promise<Uint8Array<ArrayBuffer>>> = [];
  for (const [index, { start, end }] of runs.entries()) {
    const before = fetched[index - CONCURRENT_RUNS] ?? Promise.resolve();
    const bytes = before.then(() => file.readRange(start, end, signal));
    // Whoever takes the bytes sees the failure; until then it is nobody's.
    bytes.catch(() => undefined);
    fetched.push(bytes);
  }
  return {
    async get({ start, end }) {
      if (end <= start) return new Uint8Array();
      const index = runs.findIndex((run) => run.start <= start && end <= run.end);
      const bytes = await fetched[index]!;
      const run = runs[index]!;
      return bytes.subarray(start - run.start, end - run.start);
    },
    async release() {
      for (const bytes of await Promise.all(fetched)) bytes.buffer.transfer(0);
    },
  };
}
