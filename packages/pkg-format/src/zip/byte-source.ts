import { PackageError } from '../errors.ts';

/** Random access to an archive: a file, bytes in memory, or anything that can answer a byte range. */
export interface ByteSource {
  readonly byteLength: number;
  /** The bytes from `start` up to, not including, `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** An archive that is in memory already; nothing is copied. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    byteLength: bytes.byteLength,
    read: (start, end) => Promise.resolve(bytes.subarray(start, end)),
  };
}

/** Reads a source in windows, so that many small neighbouring reads cost one. */
export interface WindowedSource {
  /** A view of exactly the bytes `start` to `end`; throws `package_corrupt` where the archive ends before. */
  view(start: number, end: number): Promise<DataView>;
}

const WINDOW_BYTES = 4096;

export function windowedSource(source: ByteSource): WindowedSource {
  let window: Uint8Array = new Uint8Array(0);
  let windowStart = 0;
  return {
    async view(start, end) {
      if (start < windowStart || end > windowStart + window.byteLength) {
        if (start < 0 || end > source.byteLength) throw cutOff(end);
        const windowEnd = Math.min(source.byteLength, Math.max(end, start + WINDOW_BYTES));
        window = await source.read(start, windowEnd);
        windowStart = start;
        if (window.byteLength < windowEnd - start) throw cutOff(windowEnd);
      }
      return new DataView(window.buffer, window.byteOffset + start - windowStart, end - start);
    },
  };
}

function cutOff(end: number): PackageError {
  return new PackageError(
    'package_corrupt',
    `The archive is cut off: it says it holds a record up to byte ${end}`,
  );
}
