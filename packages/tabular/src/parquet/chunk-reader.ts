import { yieldToEventLoop } from '#runtime';
import type { FetchedRanges } from '../source/byte-ranges.ts';
import type { CellValues } from './cells/convert.ts';
import type { ChunkDecoder } from './chunk-decoder.ts';
import type { ParquetFile } from './open-parquet.ts';
import { damagedFile } from './parquet-error.ts';
import { blockSize, type ChunkPlan, type GroupPlan } from './plan-chunks.ts';

/** After this long without waiting, other work gets a turn. */
const MAX_STEP_MS = 10;

/** Reads the rows of one leaf of a row group, page by page. */
export class ChunkReader {
  readonly #file: ParquetFile;
  readonly #plan: ChunkPlan;
  readonly #ranges: FetchedRanges;
  readonly #blockBytes: number;
  readonly #signal: AbortSignal;
  readonly #decoder: ChunkDecoder;
  /** Bytes that have been fetched and not decoded. */
  #bytes: Uint8Array = new Uint8Array();
  /** Where `#bytes` begins in the file. */
  #offset: number;
  #ahead: Promise<Uint8Array<ArrayBuffer>> | null = null;
  /** Rows still to be dropped before the first requested one. */
  #skip: number;
  #isStarted = false;

  constructor(
    file: ParquetFile,
    group: GroupPlan,
    plan: ChunkPlan,
    deps: { ranges: FetchedRanges; decoder: ChunkDecoder; signal: AbortSignal },
  ) {
    this.#file = file;
    this.#plan = plan;
    this.#ranges = deps.ranges;
    this.#blockBytes = blockSize(group.chunks.length);
    this.#signal = deps.signal;
    this.#decoder = deps.decoder;
    this.#offset = plan.pages.start;
    this.#skip = group.from - plan.firstRow;
  }

  /** Decodes until at least one requested row is ready. @returns how many are */
  async prepare(): Promise<number> {
    const decoder = this.#decoder;
    if (!this.#isStarted) await this.#start();
    let startMs = performance.now();
    while (true) {
      this.#signal.throwIfAborted();
      const dropped = Math.min(this.#skip, decoder.ready);
      if (dropped > 0) {
        decoder.take(dropped);
        this.#skip -= dropped;
      }
      if (decoder.ready > 0) return decoder.ready;
      if (decoder.hasMore) decoder.decode();
      else await this.#nextPage();
      if (performance.now() - startMs > MAX_STEP_MS) {
        await yieldToEventLoop();
        startMs = performance.now();
      }
    }
  }

  /** Takes the next rows; at most as many as are ready. */
  take(count: number): CellValues {
    return this.#decoder.take(count);
  }

  /** Frees the memory of what has been taken. */
  release(): void {
    this.#decoder.release();
  }

  async #start(): Promise<void> {
    this.#isStarted = true;
    const { dictionary, pages, firstBytes } = this.#plan;
    if (dictionary !== null) await this.#decoder.page(await this.#ranges.get(dictionary));
    this.#bytes = await this.#ranges.get({ start: pages.start, end: pages.start + firstBytes });
  }

  async #nextPage(): Promise<void> {
    const decoder = this.#decoder;
    const { pages } = this.#plan;
    while (this.#offset < pages.end) {
      const head = decoder.head(this.#bytes);
      // Twice as much each time: a header without an end costs no more than reading its bytes twice.
      const length =
        head === null
          ? Math.min(this.#bytes.length * 2 + 1, Math.max(pages.end - this.#offset, this.#bytes.length + 1))
          : head.headerBytes + head.bodyBytes;
      if (length > this.#bytes.length) {
        if (this.#offset + length > pages.end) throw damagedFile(this.#file.path, 'a page is cut off');
        await this.#fetchMore(length);
        continue;
      }
      const page = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      this.#offset += length;
      this.#readAhead();
      if (head === null || head.kind === 'other') continue;
      const rows = decoder.rowsOf(head);
      if (rows === null || rows > this.#skip) {
        await decoder.page(page);
        return;
      }
      // The page is before the first requested row.
      this.#skip -= rows;
    }
    decoder.finish();
    if (decoder.ready === 0) throw damagedFile(this.#file.path, 'a column has fewer rows than its group');
  }

  /** Appends the next bytes, so that `#bytes` has at least `length`. */
  async #fetchMore(length: number): Promise<void> {
    const end = this.#offset + this.#bytes.length;
    const block = await (this.#ahead ?? this.#fetch(end, length - this.#bytes.length));
    this.#ahead = null;
    const joined = new Uint8Array(this.#bytes.length + block.length);
    joined.set(this.#bytes);
    joined.set(block, this.#bytes.length);
    block.buffer.transfer(0);
    this.#bytes = joined;
  }

  /** Fetches the next block while the current one is decoded, if all pages are needed. */
  #readAhead(): void {
    const end = this.#offset + this.#bytes.length;
    if (!this.#plan.isExact || this.#ahead !== null || end === this.#plan.pages.end) return;
    this.#ahead = this.#fetch(end, 1);
    this.#ahead.catch(() => undefined);
  }

  #fetch(start: number, atLeastBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const { pages, isExact, firstBytes } = this.#plan;
    const step = isExact ? this.#blockBytes : firstBytes;
    const end = Math.min(start + Math.max(step, atLeastBytes), pages.end);
    return this.#file.bytes.readRange(start, end, this.#signal);
  }
}
