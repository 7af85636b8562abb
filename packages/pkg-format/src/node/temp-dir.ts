import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { DigestMeter, type FileDigest, type PackedBytes } from '../write/scan-dataset.ts';
import { BlockBuffer } from './zip/archive-writer.ts';
import { createDeflater } from './zip/create-deflater.ts';

/** A temporary file that is compressed, and the size and hash of what it holds. */
export interface PackedFile extends FileDigest, PackedBytes {}

/** Called before bytes are written, with the size that all files will then have together; the writer waits for it. */
export type MakeRoom = (bytes: number) => Promise<void>;

/** A folder for content whose size and hash must be known before it can be written. Disposing deletes it. */
export interface TempDir extends AsyncDisposable {
  path(name: string): string;
  /** Writes bytes, which must not change, compressed as an entry of a package. */
  writePacked(bytes: AsyncIterable<Uint8Array>): Promise<PackedFile>;
  /** Where contents that are in memory wait for their turn. */
  readonly contents: TempContents;
  /** Passes on bytes that the caller writes into a file of the folder, once there is room for them. */
  withRoom(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
}

/** Creates a hidden folder in `parentFolder`; that file system needs room for all the content. */
export async function createTempDir(parentFolder: string, makeRoom?: MakeRoom): Promise<TempDir> {
  const folder = await mkdtemp(join(parentFolder, '.pkg-temp-'));
  let count = 0;
  let totalBytes = 0;
  const roomFor = async (bytes: Uint8Array): Promise<void> => {
    totalBytes += bytes.byteLength;
    await makeRoom?.(totalBytes);
  };
  async function* withRoom(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      await roomFor(chunk);
      yield chunk;
    }
  }
  const newPath = (): string => {
    const path = join(folder, String(count));
    count += 1;
    return path;
  };
  const contents = new TempContents(join(folder, 'contents'), roomFor);
  return {
    path: (name) => join(folder, name),
    contents,
    async writePacked(source) {
      const path = newPath();
      const meter = new DigestMeter();
      let checksum = 0;
      async function* blocks(): AsyncGenerator<Uint8Array> {
        const buffer = new BlockBuffer();
        for await (const chunk of source) {
          buffer.add(chunk);
          if (buffer.isFull) yield added(buffer.take());
        }
        yield added(buffer.take());
      }
      function added(block: Uint8Array): Uint8Array {
        checksum = crc32(block, checksum);
        return meter.add(block);
      }
      await pipeline(
        Readable.from(blocks(), { objectMode: false }),
        createDeflater(),
        withRoom,
        createWriteStream(path, { flags: 'wx' }),
      );
      return { ...meter.end(), crc32: checksum, isDeflated: true, read: () => createReadStream(path) };
    },
    withRoom,
    [Symbol.asyncDispose]: () =>
      contents[Symbol.asyncDispose]().finally(() => rm(folder, { recursive: true, force: true })),
  };
}

/** Bytes of a large content that one read returns. */
const PIECE_BYTES = 128 * 1024;

/** Contents in one temporary file, read in any order: a file for each would cost more. Memory holds one block. */
export class TempContents implements AsyncDisposable {
  readonly #path: string;
  readonly #roomFor: (block: Uint8Array) => Promise<void>;
  readonly #blocks: BlockBuffer = new BlockBuffer();
  #file: FileHandle | null = null;

  /** @param roomFor is awaited before a block is written */
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
