import { joinBytes, transferBuffer } from '@svc/jsonl-v23/internal';
import type { ByteSource } from '../source/byte-source.ts';
import type { ChunkPlan } from './plan-chunks.ts';

/** Reads the pages of one chunk in blocks. */
export class BlockReader {
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
