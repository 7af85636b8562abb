import type { ByteSource } from '../source/byte-source.ts';
import { withCompression } from '../source/with-compression.ts';
import { CachedFile } from '../text/cached-file.ts';
import { compressionBy } from './read-head.ts';

/**
 * The content of a file, decompressed by what its first bytes are.
 *
 * @throws TableError `damaged_file`, `too_large`; errors of the source; the
 *   signal's reason
 */
export async function* decompressFile(
  source: ByteSource,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const head = await source.readRange(0, Math.min(4, source.byteLength), signal);
  yield* new CachedFile(withCompression(source, compressionBy(head)), { bytes: 0 }).read(signal);
}
