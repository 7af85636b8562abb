import type { ByteSource } from '../source/byte-source.ts';
import { withCompression } from '../source/with-compression.ts';
import { CachedFile } from '../text/cached-file.ts';
import { decodeText } from '../text/decode-text.ts';
import { isUtf8 } from '../text/encodings.ts';
import type { DetectedFile } from './file-format.ts';

/**
 * The content of a text file in UTF-8, decompressed.
 *
 * @throws TableError `invalid_row` with the line of invalid bytes, `damaged_file`, `unsupported_file`; errors of the
 *   source; the signal's reason
 */
export async function* readTextFile(
  file: ByteSource,
  { compression, options }: DetectedFile,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const content = new CachedFile(withCompression(file, compression), { bytes: 0 }).read(signal);
  const { encoding } = options;
  if (isUtf8(encoding)) {
    yield* content;
    return;
  }
  const encoder = new TextEncoder();
  for await (const text of decodeText(content, { file: file.path, encoding, signal }))
    yield encoder.encode(text);
}
