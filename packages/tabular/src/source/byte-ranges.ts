import { transferBuffer } from '@svc/jsonl-v23/bytes';
import type { ByteInterval, ByteSource } from './byte-source.ts';

/** Ranges of a file that are being fetched. */
export interface FetchedRanges {
  /** The bytes of one of the requested intervals. @throws errors of the source */
  get(interval: ByteInterval): Promise<Uint8Array>;
  /** Frees the memory of all bytes, once all have come: results of `get` can no longer be read. */
  release(): Promise<void>;
}

/** How intervals are joined. */
export interface RangeLimits {
  /** Longest gap that is read over. */
  readonly maxGapBytes: number;
  /** Longest range that is joined over a gap. */
  readonly maxRangeBytes: number;
}

/** Concurrent reads of one file. */
const CONCURRENT_RANGES = 4;

/** Starts to fetch intervals in as few reads as their gaps allow. `get` throws the errors. */
export function fetchRanges(
  file: ByteSource,
  intervals: readonly ByteInterval[],
  limits: RangeLimits,
  signal: AbortSignal,
): FetchedRanges {
  const ranges = coalesce(
    intervals.filter(({ start, end }) => end > start),
    limits,
  );
  const fetched: Array<Promise<Uint8Array<ArrayBuffer>>> = [];
  for (const [index, { start, end }] of ranges.entries()) {
    const before = fetched[index - CONCURRENT_RANGES] ?? Promise.resolve();
    const bytes = before.then(() => file.readRange(start, end, signal));
    // `get` throws the error.
    bytes.catch(() => undefined);
    fetched.push(bytes);
  }
  return {
    async get({ start, end }) {
      if (end <= start) return new Uint8Array();
      const index = ranges.findIndex((range) => range.start <= start && end <= range.end);
      const range = ranges[index];
      const bytes = await fetched[index];
      if (range === undefined || bytes === undefined) {
        throw new RangeError(`The bytes ${start} to ${end} were not requested.`);
      }
      return bytes.subarray(start - range.start, end - range.start);
    },
    async release() {
      for (const bytes of await Promise.all(fetched)) transferBuffer(bytes.buffer, 0);
    },
  };
}

/** Joins intervals that overlap or are close together. @returns disjoint ranges in order */
function coalesce(intervals: readonly ByteInterval[], limits: RangeLimits): ByteInterval[] {
  const ranges: Array<{ start: number; end: number }> = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = ranges.at(-1);
    if (last === undefined) {
      ranges.push({ start, end });
      continue;
    }
    const isNear = start - last.end <= limits.maxGapBytes && end - last.start <= limits.maxRangeBytes;
    if (start < last.end || isNear) last.end = Math.max(last.end, end);
    else ranges.push({ start, end });
  }
  return ranges;
}
