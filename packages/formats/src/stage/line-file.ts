import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { linesOf, splitLines } from '@svc/jsonl-v23/lines';
import { type ByteSource, chunkedSource } from '@svc/pkg-format';

const BLOCK_BYTES = 256 * 1024;
const WINDOW_BYTES = 64 * 1024;
/** A log with several filters has as many places to read next. */
const MAX_WINDOWS = 32;

export class LineFile {
  readonly path: string;
  bytes = 0;
  #file: FileHandle | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  async add(line: string, bytes: number): Promise<void> {
    this.bytes += bytes;
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes >= BLOCK_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    this.#file ??= await open(this.path, 'wx+', 0o600);
    await this.#file.writeFile(this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  async *values(maxDepth: number): AsyncGenerator<JsonObject> {
    const decoder = new TextDecoder();
    for await (const batch of splitLines(createReadStream(this.path), {
      maxLineBytes: Number.MAX_SAFE_INTEGER,
    })) {
      for (const { bytes } of linesOf(batch)) {
        yield parseJson(decoder.decode(bytes), { maxDepth: maxDepth + 8 }) as JsonObject;
      }
    }
  }

  /** What was flushed, for small ranges, which are near earlier ones or near each other. Holds 2 MiB. */
  source(): ByteSource {
    return chunkedSource(this.bytes, { chunkBytes: WINDOW_BYTES, maxHeld: MAX_WINDOWS }, async (index) => {
      const buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES);
      const read = await this.#file?.read(buffer, 0, WINDOW_BYTES, index * WINDOW_BYTES);
      return buffer.subarray(0, read?.bytesRead);
    });
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
