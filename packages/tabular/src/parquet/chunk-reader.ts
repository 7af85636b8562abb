import { joinBytes, transferBuffer } from '@svc/jsonl-v23/bytes';
import type { FetchedRanges } from '../source/byte-ranges.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { createYielder } from '../source/turns.ts';
import type { CellValues } from './cells/convert.ts';
import type { ChunkDecoder } from './chunk-decoder.ts';
import type { ParquetFile } from './open-parquet.ts';
import { damagedFile } from './parquet-error.ts';
import { blockSize, type ChunkPlan, type GroupPlan } from './plan-chunks.ts';

/** Reads the pages of one chunk in blocks. */
class BlockReader {
  readonly #file: ByteSource;
  readonly #plan: ChunkPlan;
  readonly #blockBytes: number;
  readonly #signal: AbortSignal;
  /** Where `bytes` begins in the file. */
  #offset: number;
  #ahead: Promise<Uint8Array<ArrayBuffer>> | null = null;
  /** Bytes that have been fetched and not passed. */
  bytes: Uint8Array = new Uint8Array();

  constructor(file: ByteSource, plan: ChunkPlan, blockBytes: number, signal: AbortSignal) {
    this.#file = file;
    this.#plan = plan;
    this.#blockBytes = blockBytes;
    this.#signal = signal;
    this.#offset = plan.pages.start;
  }

  /** Bytes that have not been passed, fetched or not. */
  get left(): number {
    return this.#plan.pages.end - this.#offset;
  }

  /** Passes the next bytes and fetches the next block while they are decoded, if all pages are needed. */
  take(length: number): Uint8Array {
    const taken = this.bytes.subarray(0, length);
    this.bytes = this.bytes.subarray(length);
    this.#offset += length;
    const end = this.#offset + this.bytes.length;
    if (this.#plan.isExact && this.#ahead === null && end !== this.#plan.pages.end) {
      this.#ahead = this.#fetch(end, 1);
      this.#ahead.catch(() => undefined);
    }
    return taken;
  }

  /** Appends the next bytes, so that `bytes` has at least `length`. @throws errors of the source */
  async fetchMore(length: number): Promise<void> {
    const end = this.#offset + this.bytes.length;
    const block = await (this.#ahead ?? this.#fetch(end, length - this.bytes.length));
    this.#ahead = null;
    this.bytes = joinBytes([this.bytes, block]);
    transferBuffer(block.buffer, 0);
  }

  #fetch(start: number, atLeastBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const { pages, isExact, firstBytes } = this.#plan;
    const step = isExact ? this.#blockBytes : firstBytes;
    const end = Math.min(start + Math.max(step, atLeastBytes), pages.end);
    return this.#file.readRange(start, end, this.#signal);
  }
}

/** After this long without waiting, other work gets a turn. */
const MAX_STEP_MS = 10;

/** Reads the rows of one leaf of a row group, page by page. */
export class ChunkReader {
  readonly #file: ParquetFile;
  readonly #plan: ChunkPlan;
  readonly #ranges: FetchedRanges;
  readonly #blocks: BlockReader;
  readonly #signal: AbortSignal;
  readonly #decoder: ChunkDecoder;
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
    this.#blocks = new BlockReader(file.bytes, plan, blockSize(group.chunks.length), deps.signal);
    this.#signal = deps.signal;
    this.#decoder = deps.decoder;
    this.#skip = group.from - plan.firstRow;
  }

  /** Decodes until at least one requested row is ready. @returns how many are */
  async prepare(): Promise<number> {
    const decoder = this.#decoder;
    if (!this.#isStarted) await this.#start();
    const nextTurn = createYielder(MAX_STEP_MS);
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
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
  }

  /** Takes the next rows; at most as many as are ready. */
  take(count: number): CellValues {
    return this.#decoder.take(count);
  }

  /** Frees the memory of the rows that were taken. */
  release(): void {
    this.#decoder.release();
  }

  async #start(): Promise<void> {
    this.#isStarted = true;
    const { dictionary, pages, firstBytes } = this.#plan;
    if (dictionary !== null) await this.#decoder.page(await this.#ranges.get(dictionary));
    this.#blocks.bytes = await this.#ranges.get({ start: pages.start, end: pages.start + firstBytes });
  }

  async #nextPage(): Promise<void> {
    const decoder = this.#decoder;
    const blocks = this.#blocks;
    while (blocks.left > (decoder.isComplete ? this.#plan.slackBytes : 0)) {
      const head = decoder.head(blocks.bytes);
      const fetched = blocks.bytes.length;
      // Twice as much each time: a header without an end costs no more than reading its bytes twice.
      const length =
        head === null
          ? Math.min(fetched * 2 + 1, Math.max(blocks.left, fetched + 1))
          : head.headerBytes + head.bodyBytes;
      if (length > fetched) {
        if (length > blocks.left) throw damagedFile(this.#file.path, 'a page is cut off');
        await blocks.fetchMore(length);
        continue;
      }
      const page = blocks.take(length);
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
}
