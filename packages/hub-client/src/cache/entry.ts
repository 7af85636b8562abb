import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { OwnBytes } from '@svc/jsonl-v23/internal';

// An entry is a file of blocks, each followed by its SHA-256, so that any part of it can be checked before it is used.
const BLOCK_BYTES = 1024 * 1024;
const DIGEST_BYTES = 32;
const STORED_BLOCK_BYTES = BLOCK_BYTES + DIGEST_BYTES;

/** Size of an entry with this many bytes of content. */
export function storedSize(byteLength: number): number {
  return byteLength + DIGEST_BYTES * Math.ceil(byteLength / BLOCK_BYTES);
}

/** The digest of a block also covers its entry and place, so that no other block passes for it. */
function digestOf(name: string, index: number, block: Uint8Array): Uint8Array {
  return createHash('sha256').update(`${name} ${index} `).update(block).digest();
}

/** An open entry. */
export class EntryReader {
  readonly name: string;
  readonly #handle: FileHandle;
  readonly byteLength: number;

  constructor(name: string, handle: FileHandle, size: number) {
    this.name = name;
    this.#handle = handle;
    this.byteLength = size - DIGEST_BYTES * Math.ceil(size / STORED_BLOCK_BYTES);
  }

  /** The bytes from `start` to `end`; null if a block of them is damaged. @throws the signal's reason */
  async read(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes | null> {
    const bytes = new Uint8Array(end - start);
    for (let offset = start; offset < end; ) {
      signal?.throwIfAborted();
      const block = await this.readFrom(offset);
      if (block === null) return null;
      bytes.set(block.subarray(0, end - offset), offset - start);
      offset += block.length;
    }
    return bytes;
  }

  /** The block that has the byte at `offset`, from that byte on; null if it is damaged. */
  async readFrom(offset: number): Promise<OwnBytes | null> {
    // A file system that fails to read a block has lost it.
    return await this.#readBlock(offset).catch(() => null);
  }

  async #readBlock(offset: number): Promise<OwnBytes | null> {
    const index = Math.floor(offset / BLOCK_BYTES);
    const start = index * BLOCK_BYTES;
    const length = Math.min(BLOCK_BYTES, this.byteLength - start);
    const stored = new Uint8Array(length + DIGEST_BYTES);
    const { bytesRead } = await this.#handle.read(stored, 0, stored.length, index * STORED_BLOCK_BYTES);
    const block = stored.subarray(0, length);
    const isWhole =
      bytesRead === stored.length &&
      Buffer.compare(digestOf(this.name, index, block), stored.subarray(length)) === 0;
    return isWhole ? block.subarray(offset - start) : null;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** An entry that is being written. */
export class EntryWriter {
  readonly #name: string;
  readonly #handle: FileHandle;
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #blockLength = 0;
  #index = 0;

  constructor(name: string, handle: FileHandle) {
    this.#name = name;
    this.#handle = handle;
  }

  /** Bytes that were added. */
  get byteLength(): number {
    return this.#index * BLOCK_BYTES + this.#blockLength;
  }

  async add(chunk: Uint8Array): Promise<void> {
    for (let offset = 0; offset < chunk.length; ) {
      const part = chunk.subarray(offset, offset + BLOCK_BYTES - this.#blockLength);
      this.#block.set(part, this.#blockLength);
      this.#blockLength += part.length;
      offset += part.length;
      if (this.#blockLength === BLOCK_BYTES) await this.#flush();
    }
  }

  /** Writes what is left, and closes the file. */
  async end(): Promise<void> {
    if (this.#blockLength > 0) await this.#flush();
    await this.#handle.close();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #flush(): Promise<void> {
    const block = this.#block.subarray(0, this.#blockLength);
    const stored = Buffer.concat([block, digestOf(this.#name, this.#index, block)]);
    let written = 0;
    while (written < stored.length) {
      const { bytesWritten } = await this.#handle.write(stored, written);
      written += bytesWritten;
    }
    this.#index += 1;
    this.#blockLength = 0;
  }
}
