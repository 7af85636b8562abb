import { joinBytes } from '@svc/jsonl-v23/bytes';
import type { Features } from '../schema/features.ts';
import { type ByteSource, deriveSource } from '../source/byte-source.ts';
import { FOOTER_TAIL_BYTES, footerLength, type ParquetFooter, parseFooter } from './metadata/footer.ts';

/** A Parquet file whose footer has been read. */
export interface ParquetFile {
  readonly path: string;
  readonly rowCount: number;
  readonly features: Features;
  readonly footer: ParquetFooter;
  /** The file; bytes that came with the footer are read from memory. */
  readonly bytes: ByteSource;
}

/** Fetched with the footer: a thousandth of the file is enough for most footers and page indexes. */
const MIN_TAIL_BYTES = 64 * 1024;
const MAX_TAIL_BYTES = 512 * 1024;

/**
 * Opens a Parquet file: one read for its footer, two if that is unusually long.
 *
 * @throws TableError `damaged_file`, or `unsupported_file` if the file is encrypted or its footer too large; errors of the
 *   source
 */
export async function openParquet(file: ByteSource, signal?: AbortSignal): Promise<ParquetFile> {
  const { byteLength, path } = file;
  const guess = Math.min(Math.max(Math.ceil(byteLength / 1000), MIN_TAIL_BYTES), MAX_TAIL_BYTES);
  let start = Math.max(0, byteLength - guess);
  let tail: Uint8Array<ArrayBuffer> = await file.readRange(start, byteLength, signal);
  const length = footerLength(tail.subarray(-FOOTER_TAIL_BYTES), path, byteLength);
  if (length > tail.length) {
    tail = joinBytes([await file.readRange(byteLength - length, start, signal), tail]);
    start = byteLength - length;
  }
  const footer = await parseFooter(tail, path, byteLength);
  const { rowCount, features } = footer;
  return { path, rowCount, features, footer, bytes: withTail(file, start, tail) };
}

/** A file whose end is in memory. */
function withTail(file: ByteSource, tailStart: number, tail: Uint8Array<ArrayBuffer>): ByteSource {
  return deriveSource(file, {
    async readRange(start, end, signal) {
      if (start < tailStart) return await file.readRange(start, end, signal);
      // `slice` of a Buffer would share its memory, which readers free.
      return new Uint8Array(tail.subarray(start - tailStart, end - tailStart));
    },
  });
}
