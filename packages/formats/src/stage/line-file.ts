import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { linesOf, splitLines } from '@svc/jsonl-v23/internal';
import { type JsonObject, parseJson } from '@svc/jsonl-v23/json';

const BLOCK_BYTES = 256 * 1024;

/** A file of lines that is written, then read. */
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

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

const WINDOW_BYTES = 64 * 1024;
/** A log with several filters has as many places to read next. */
const MAX_WINDOWS = 32;

/** Reads small ranges of a file, which are near earlier ones or near each other. Holds 2 MiB. */
export class WindowReader implements AsyncDisposable {
  readonly #file: FileHandle;
  /** The least recently used first. */
  readonly #windows = new Map<number, Buffer>();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<WindowReader> {
    return new WindowReader(await open(path, 'r'));
  }

  /** The bytes from `start` up to, not including, `end`. */
  async read(start: number, end: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let at = start; at < end; ) {
      const index = Math.floor(at / WINDOW_BYTES);
      const from = at - index * WINDOW_BYTES;
      const part = (await this.#window(index)).subarray(from, from + end - at);
      if (part.byteLength === 0) throw new Error('A temporary file became shorter.');
      parts.push(part);
      at += part.byteLength;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  async #window(index: number): Promise<Buffer> {
    let window = this.#windows.get(index);
    if (window === undefined) {
      const buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES);
      const { bytesRead } = await this.#file.read(buffer, 0, WINDOW_BYTES, index * WINDOW_BYTES);
      window = buffer.subarray(0, bytesRead);
    } else this.#windows.delete(index);
    this.#windows.set(index, window);
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > MAX_WINDOWS && oldest !== undefined) this.#windows.delete(oldest);
    return window;
  }
}
