import { joinBytes } from '@svc/jsonl-v23/bytes';
import { checkNumber } from '@svc/jsonl-v23/options';
import { type ChunkSource, chunksOf, isWebStream } from '@svc/jsonl-v23/streams';
import { type TableError, unreadableFile } from '../errors.ts';
import { type ByteSource, type RandomAccess, tableSource } from './byte-source.ts';

/**
 * What a file can be read from: its bytes, a `Blob` or `File` (in Node `fs.openAsBlob(path)`), the address of a server that
 * serves ranges, an object with `byteLength` and `read(start, end)`, or a stream, which is held in memory.
 */
export type ByteInput =
  | Uint8Array
  | ArrayBuffer
  | Blob
  | URL
  | RandomAccess
  | ChunkSource<Uint8Array>
  | Iterable<Uint8Array>;

export interface ByteSourceOptions {
  /** Name of the file, for errors and for the format; by default the name of the `File` or the address. */
  readonly path?: string;
  /** Longest stream, in bytes; default 256 MiB. */
  readonly maxBytes?: number;
  /** Used for addresses; default the runtime's. */
  readonly fetch?: typeof globalThis.fetch;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/**
 * Makes a byte source of anything that has bytes. An address is asked once for its length; then only the ranges that a
 * reader needs are fetched.
 *
 * @throws TypeError for another input; TableError `unsupported_file` for a stream over `maxBytes` and an address that does
 *   not serve ranges; errors of the stream and of `fetch`; the signal's reason
 *
 * @example
 * const source = await openByteSource(new URL('https://example.org/rows.parquet'));
 * const table = await openFileTable(source, await detectFormat(source));
 */
export async function openByteSource(input: ByteInput, options: ByteSourceOptions = {}): Promise<ByteSource> {
  const { path = nameOf(input), signal } = options;
  checkNumber('maxBytes', options.maxBytes, { min: 1 });
  signal?.throwIfAborted();
  // The bytes may belong to the caller, and readers free the memory of what they get.
  const copied = (
    byteLength: number,
    read: (start: number, end: number) => Uint8Array | Promise<Uint8Array | ArrayBuffer>,
  ): ByteSource =>
    tableSource(path, {
      byteLength,
      read: async (start, end) => new Uint8Array(await read(start, end)),
    });
  const ofBytes = (bytes: Uint8Array): ByteSource =>
    copied(bytes.byteLength, (start, end) => bytes.subarray(start, end));
  if (input instanceof ArrayBuffer) return ofBytes(new Uint8Array(input));
  if (input instanceof Uint8Array) return ofBytes(input);
  if (input instanceof Blob) return copied(input.size, (start, end) => input.slice(start, end).arrayBuffer());
  if (input instanceof URL) return tableSource(path, await openAddress(input, path, options));
  if (isRandomAccess(input)) return copied(input.byteLength, (start, end) => input.read(start, end));
  if (isStream(input)) return ofBytes(await collect(chunksOf(input), path, options));
  if (isIterable(input)) return ofBytes(await collect(input, path, options));
  throw new TypeError(`The input must have bytes, got ${describe(input)}.`);
}

function nameOf(input: unknown): string {
  if (input instanceof URL) return input.pathname.split('/').at(-1) ?? '';
  const { name } = (input ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

function isRandomAccess(input: object): input is RandomAccess {
  const { byteLength, read } = input as Partial<RandomAccess>;
  return typeof byteLength === 'number' && typeof read === 'function';
}

function isStream(input: unknown): input is ChunkSource<Uint8Array> {
  return typeof input === 'object' && input !== null && (isWebStream(input) || Symbol.asyncIterator in input);
}

function isIterable(input: unknown): input is Iterable<Uint8Array> {
  return typeof input === 'object' && input !== null && Symbol.iterator in input;
}

function describe(input: unknown): string {
  return input === null ? 'null' : typeof input;
}

async function collect(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: string,
  { maxBytes = DEFAULT_MAX_BYTES, signal }: ByteSourceOptions,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    signal?.throwIfAborted();
    if (!(chunk instanceof Uint8Array)) throw new TypeError(`A chunk must be bytes, got ${describe(chunk)}.`);
    length += chunk.length;
    if (length > maxBytes) throw unsupported(path, `its stream has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return joinBytes(chunks);
}

async function openAddress(
  url: URL,
  path: string,
  { fetch = globalThis.fetch, signal }: ByteSourceOptions,
): Promise<RandomAccess> {
  const get = async (start: number, end: number): Promise<Response> => {
    const headers = { range: `bytes=${start}-${end - 1}` };
    return await fetch(url, signal === undefined ? { headers } : { headers, signal });
  };
  const first = await get(0, 1);
  await first.body?.cancel();
  const range = /^bytes 0-0\/(\d{1,15})$/.exec(first.headers.get('content-range') ?? '');
  if (first.status === 416 && first.headers.get('content-range') === 'bytes */0')
    return { byteLength: 0, read: async () => new Uint8Array() };
  if (first.status !== 206 || range === null) {
    throw unsupported(path, `${url.host} serves no ranges of it (status ${first.status})`);
  }
  const etag = first.headers.get('etag');
  const byteLength = Number(range[1]);
  return {
    byteLength,
    async read(start, end) {
      if (start >= end) return new Uint8Array();
      const response = await get(start, end);
      const isSame = response.headers.get('etag') === etag;
      if (response.status !== 206 || !isSame) {
        await response.body?.cancel();
        const reason = isSame
          ? `${url.host} returned status ${response.status}`
          : 'it changed while it was read';
        throw unreadableFile('damaged_file', path, reason);
      }
      return await readExactly(response, end - start, path);
    },
  };
}

/** Reads a body of a known length, and not a byte more. */
async function readExactly(response: Response, length: number, path: string): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let offset = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    if (offset + next.value.length > length) {
      await reader?.cancel();
      throw unreadableFile('damaged_file', path, 'a response is longer than its range');
    }
    bytes.set(next.value, offset);
    offset += next.value.length;
  }
  return bytes.subarray(0, offset);
}

function unsupported(path: string, reason: string): TableError {
  return unreadableFile('unsupported_file', path, reason);
}
