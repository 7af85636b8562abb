import { joinBytes } from '@svc/jsonl-v23/bytes';
import { decompress } from '#runtime';
import { TableError } from '../errors.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { joinSignals } from '../source/turns.ts';
import { notDecompressed } from '../text/cached-file.ts';
import type { FileCompression } from './file-format.ts';
import { startsWith } from './known-kinds.ts';

/** Enough rows to tell how they are written. */
const HEAD_BYTES = 256 * 1024;

/** The first bytes of a file's content. */
export interface FileHead {
  /** Decompressed. */
  readonly head: Uint8Array;
  readonly compression: FileCompression | undefined;
  /** Whether the head is all of the content. */
  readonly isWhole: boolean;
}

/**
 * Reads the first bytes of a file, decompressed by what they are.
 *
 * @throws TableError `damaged_file` for a compressed file without a readable part; errors of the source
 */
export async function readHead(source: ByteSource, signal?: AbortSignal): Promise<FileHead> {
  const stored = await source.readRange(0, Math.min(source.byteLength, HEAD_BYTES), signal);
  const compression = compressionBy(stored);
  if (compression === undefined)
    return { head: stored, compression, isWhole: stored.length === source.byteLength };
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of decompress(compression, (ended) => source.stream(joinSignals(signal, ended)))) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= HEAD_BYTES) {
        return { head: joinBytes(chunks).subarray(0, HEAD_BYTES), compression, isWhole: false };
      }
    }
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof TableError) throw cause;
    // Reading the rows finds damage after the first bytes.
    if (length > 0) return { head: joinBytes(chunks), compression, isWhole: false };
    throw notDecompressed(source.path, compression, cause);
  }
  return { head: joinBytes(chunks), compression, isWhole: true };
}

/** How a file is compressed, by its first bytes; undefined if it is not. */
export function compressionBy(head: Uint8Array): FileCompression | undefined {
  if (startsWith(head, '\x1f\x8b')) return 'gzip';
  return startsWith(head, '\x28\xb5\x2f\xfd') ? 'zstd' : undefined;
}
