import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { PackedBytes } from '../write/scan-dataset.ts';
import { BlockBuffer } from './zip/block-buffer.ts';

/** Bytes of a large content that one read returns. */
const PIECE_BYTES = 128 * 1024;

/**
 * Any number of contents in one temporary file, from which they are read in any order: a file for each would cost more than
 * the content. Memory holds one block.
 */
export class TempContents implements AsyncDisposable {
  readonly #path: string;
  readonly #roomFor: (block: Uint8Array) => Promise<void>;
  readonly #blocks: BlockBuffer = new BlockBuffer();
  #file: FileHandle | null = null;

  /**
   * @param path of the file, which is created with the first content
   * @param roomFor is awaited before a block is written
   */
  constructor(path: string, roomFor: (block: Uint8Array) => Promise<void>) {
    this.#path = path;
    this.#roomFor = roomFor;
  }

  /** Adds a content, whose bytes must not change. Wait for the end before you add the next one. */
  async add(bytes: Uint8Array): Promise<PackedBytes> {
    const start = this.#blocks.position;
    this.#blocks.add(bytes);
    if (this.#blocks.isFull) await this.#write();
    const end = this.#blocks.position;
    const read = (): AsyncGenerator<Uint8Array> => this.#read(start, end);
    return { isDeflated: false, bytes: bytes.byteLength, crc32: crc32(bytes), read };
  }

  async *#read(start: number, end: number): AsyncGenerator<Uint8Array> {
    await this.#write();
    for (let at = start; at < end; ) {
      const length = Math.min(PIECE_BYTES, end - at);
      const found = await this.#file?.read(Buffer.allocUnsafeSlow(length), 0, length, at);
      if (found === undefined || found.bytesRead === 0) throw new Error(`${this.#path} became shorter.`);
      yield found.buffer.subarray(0, found.bytesRead);
      at += found.bytesRead;
    }
  }

  async #write(): Promise<void> {
    const block = this.#blocks.take();
    if (block.byteLength === 0) return;
    await this.#roomFor(block);
    this.#file ??= await open(this.#path, 'wx+');
    await this.#file.writeFile(block);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
  }
}
