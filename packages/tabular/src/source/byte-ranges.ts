import { transferBuffer } from '@svc/jsonl-v23/bytes';
import type { ByteInterval, ByteSource } from './byte-source.ts';

/** Longest gap that is read over: that costs less than another request, some 10 ms of transfer. */
const MAX_GAP_BYTES = 256 * 1024;
/** Longest range that is joined over a gap. */
export const MAX_RANGE_BYTES: number = 16 * 1024 * 1024;
const CONCURRENT_RANGES = 4;

/** Ranges of a file that are being fetched, in as few reads as their gaps allow. */
export class FetchedRanges {
  readonly #ranges: readonly ByteInterval[];
  readonly #fetched: Array<Promise<Uint8Array<ArrayBuffer>>> = [];

  constructor(file: ByteSource, intervals: readonly ByteInterval[], signal: AbortSignal) {
    this.#ranges = coalesce(intervals.filter(({ start, end }) => end > start));
    for (const [index, { start, end }] of this.#ranges.entries()) {
      const before = this.#fetched[index - CONCURRENT_RANGES] ?? Promise.resolve();
      const bytes = before.then(() => file.readRange(start, end, signal));
      // `get` throws the error.
      bytes.catch(() => undefined);
      this.#fetched.push(bytes);
    }
  }

  async get({ start, end }: ByteInterval): Promise<Uint8Array> {
    if (end <= start) return new Uint8Array();
    const index = this.#ranges.findIndex((range) => range.start <= start && end <= range.end);
    const range = this.#ranges[index];
    const bytes = await this.#fetched[index];
    if (range === undefined || bytes === undefined) {
      throw new RangeError(`The bytes ${start} to ${end} were not requested.`);
    }
    return bytes.subarray(start - range.start, end - range.start);
  }

  /**
   * Frees the memory of all bytes, once all have come: results of `get` can no longer be read. The garbage collector would
   * scan the whole heap for every few pages.
   */
  async release(): Promise<void> {
    for (const bytes of await Promise.all(this.#fetched)) transferBuffer(bytes.buffer, 0);
  }
}

/** Joins intervals that overlap or are close together. @returns disjoint ranges in order */
function coalesce(intervals: readonly ByteInterval[]): ByteInterval[] {
  const ranges: Array<{ start: number; end: number }> = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = ranges.at(-1);
    const isNear =
      last !== undefined && start - last.end <= MAX_GAP_BYTES && end - last.start <= MAX_RANGE_BYTES;
    if (last !== undefined && (start < last.end || isNear)) last.end = Math.max(last.end, end);
    else ranges.push({ start, end });
  }
  return ranges;
}
