import { joinBytes } from '@svc/jsonl-v23/bytes';
import { typeName, untilAborted } from '@svc/jsonl-v23/streams';
import { corruptArchive, type PackageError } from '../errors.ts';

/** Random access to an archive: a file, bytes in memory, or anything else with byte ranges. */
export interface ByteSource {
  readonly byteLength: number;
  /** The bytes from `start` up to, not including, `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** An entry of an archive whose headers agree. */
export interface ZipEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly method: 'stored' | 'deflated' | 'zstd';
  /** Bytes in the archive, from `dataStart` on. */
  readonly compressedSize: number;
  /** Bytes of the uncompressed content. */
  readonly size: number;
  /** CRC-32 of the uncompressed content. */
  readonly crc32: number;
  readonly headerStart: number;
  readonly dataStart: number;
}

/** An archive in memory; reading copies nothing. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    byteLength: bytes.byteLength,
    read: (start, end) => Promise.resolve(bytes.subarray(start, end)),
  };
}

/** A `Blob` or `File`, as far as it is needed to read it. */
export interface BlobLike {
  readonly size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

export type ArchiveInput = Uint8Array | ArrayBuffer | BlobLike | ByteSource;

/** The bytes of an archive in memory, in a `File` or `Blob` (only the needed ranges are read), or in a source. */
export function openSource(input: ArchiveInput): ByteSource {
  if (input instanceof Uint8Array) return bytesSource(input);
  if (input instanceof ArrayBuffer) return bytesSource(new Uint8Array(input));
  if (typeof input === 'object' && input !== null) {
    if ('read' in input && typeof input.read === 'function' && typeof input.byteLength === 'number')
      return input;
    if ('slice' in input && typeof input.slice === 'function' && typeof input.size === 'number')
      return blobSource(input);
  }
  throw new TypeError(
    `An archive must be a Uint8Array, an ArrayBuffer, a Blob or a source with byteLength and read, got ${typeName(input)}.`,
  );
}

function blobSource(blob: BlobLike): ByteSource {
  return {
    byteLength: blob.size,
    read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
  };
}

/**
 * A source of chunks of equal length, the last one perhaps shorter, for reads that are mostly near each other. Memory holds a
 * few chunks.
 *
 * @param fetch reads the chunk at an index
 */
export function chunkedSource(
  byteLength: number,
  { chunkBytes, maxHeld }: { readonly chunkBytes: number; readonly maxHeld: number },
  fetch: (index: number) => Promise<Uint8Array>,
): ByteSource {
  /** The least recently used first. */
  const held = new Map<number, Promise<Uint8Array>>();
  const chunk = (index: number): Promise<Uint8Array> => {
    const found = held.get(index) ?? fetch(index);
    held.delete(index);
    held.set(index, found);
    // One that could not be read is read again.
    found.catch(() => held.delete(index));
    const [oldest] = held.keys();
    if (held.size > maxHeld && oldest !== undefined) held.delete(oldest);
    return found;
  };
  return {
    byteLength,
    async read(start, end) {
      const last = Math.min(end, byteLength);
      const parts: Uint8Array[] = [];
      for (let at = start; at < last; ) {
        const index = Math.floor(at / chunkBytes);
        const from = at - index * chunkBytes;
        const part = (await chunk(index)).subarray(from, from + last - at);
        if (part.byteLength === 0) break;
        parts.push(part);
        at += part.byteLength;
      }
      return parts.length === 1 ? (parts[0] as Uint8Array) : joinBytes(parts);
    },
  };
}

const READ_BYTES = 128 * 1024;

/**
 * The bytes from `start` up to `end`, in chunks.
 *
 * @throws PackageError `package_corrupt` if the source has become shorter; the signal's reason, also while a read is
 *   pending; errors of the source
 */
export async function* readRange(
  source: ByteSource,
  start: number,
  end: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += READ_BYTES) {
    const stop = Math.min(end, at + READ_BYTES);
    const bytes = await untilAborted(() => source.read(at, stop), signal);
    if (bytes.byteLength < stop - at) throw becameShorter();
    yield bytes;
  }
}

export function becameShorter(): PackageError {
  return corruptArchive('The archive became shorter while it was read.');
}

/** A view of exactly the bytes `start` to `end` of a source. @throws PackageError `package_corrupt` if it is shorter */
export type ViewBytes = (start: number, end: number) => Promise<DataView>;

const WINDOW_BYTES = 4096;

/** Reads a source in windows of at least 4 KiB, so that many small reads next to each other cost one. */
export function windowedSource(source: ByteSource): ViewBytes {
  let window: Uint8Array = new Uint8Array(0);
  let windowStart = 0;
  return async (start, end) => {
    if (start < windowStart || end > windowStart + window.byteLength) {
      if (start < 0 || end > source.byteLength) throw truncated(end);
      const windowEnd = Math.min(source.byteLength, Math.max(end, start + WINDOW_BYTES));
      window = await source.read(start, windowEnd);
      windowStart = start;
      if (window.byteLength < windowEnd - start) throw truncated(windowEnd);
    }
    return new DataView(window.buffer, window.byteOffset + start - windowStart, end - start);
  };
}

function truncated(end: number): PackageError {
  return corruptArchive(`The archive is truncated: one of its records should end at byte ${end}.`);
}

export async function collectBytes(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return joinBytes(chunks);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes strict UTF-8; null if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
