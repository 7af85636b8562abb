import { unreadableFile } from '../errors.ts';
import type { ByteSource } from '../source/byte-source.ts';

/** A file behind random access. */
export interface RandomAccess {
  readonly byteLength: number;
  /** As in `ByteSource`. */
  readonly maxContentBytes?: number | undefined;
  /** Bytes that fill a buffer are the caller's, unless they are the whole file: it may free their memory. */
  read(start: number, end: number): Promise<Uint8Array>;
}

const READ_BYTES = 256 * 1024;

/** A file behind random access as a source of tables; the next bytes are read while these are used. */
export function tableSource(path: string, source: RandomAccess): ByteSource {
  const { byteLength, maxContentBytes } = source;
  const readRange = async (
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> => {
    signal?.throwIfAborted();
    const bytes = await source.read(start, end);
    if (bytes.byteLength < end - start) {
      throw unreadableFile('damaged_file', path, 'it became shorter');
    }
    // Readers free the memory of what they get, and may post it to a thread. All of a source may be its own memory.
    const isOwn = bytes.byteLength === bytes.buffer.byteLength && bytes.byteLength < byteLength;
    return isOwn ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  };
  return {
    path,
    byteLength,
    maxContentBytes,
    isNear: true,
    readRange,
    async *stream(signal, head = []) {
      yield* head;
      let at = head.reduce((sum, chunk) => sum + chunk.byteLength, 0);
      const next = (): Promise<Uint8Array> | null => {
        if (at >= byteLength) return null;
        const start = at;
        at = Math.min(byteLength, start + READ_BYTES);
        const bytes = readRange(start, at, signal);
        // The loop throws it.
        bytes.catch(() => undefined);
        return bytes;
      };
      for (let reading = next(); reading !== null; ) {
        const bytes = await reading;
        reading = next();
        yield bytes;
      }
    },
  };
}
