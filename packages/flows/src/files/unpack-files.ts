import type { PackageLimits } from '@svc/pkg-format';
import { openArchive } from '@svc/pkg-format/internal';
import { type ByteSource, decompressFile } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import type { UploadedFile } from './recognise-upload.ts';
import { toUploadError, UploadError } from './upload-error.ts';

/** A file that comes out of another one. */
export interface UnpackedFile {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** As many files as an upload may have. */
const MAX_FILES = 1000;

/**
 * Unpacks the files of a ZIP archive, or a file that is compressed as a whole, one after another. Read the content of each
 * before you go on. What comes out is bounded by the limits of packages.
 *
 * @throws PackageError, UploadError `unsupported_file`; errors of the source; the signal's reason
 */
export async function* unpackFiles(
  files: readonly UploadedFile[],
  limits: Partial<PackageLimits> & Pick<PackageLimits, 'maxTotalBytes'>,
  signal: AbortSignal,
): AsyncGenerator<UnpackedFile> {
  const [first] = files;
  const head = first === undefined ? '' : Buffer.from(await first.source.read(0, 2)).toString('latin1');
  if (first !== undefined && head === 'PK') {
    const archive = await openArchive(first.source, limits, () => Promise.resolve());
    const paths = [...archive.files.keys()];
    if (paths.length > MAX_FILES) {
      const message = `Cannot read the archive: it has ${paths.length} files, more than ${MAX_FILES}.`;
      throw new UploadError('unsupported_file', message, { file: first.name });
    }
    for (const path of paths) yield { name: path, content: archive.read(path, { signal }) };
    return;
  }
  let left = limits.maxTotalBytes;
  for (const { name, source } of files) {
    const content = decompressed(tableSource(name, source), name, signal);
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        left -= chunk.byteLength;
        if (left < 0) {
          const message = `Cannot read the file: unpacked files must have at most ${limits.maxTotalBytes} bytes.`;
          throw new UploadError('unsupported_file', message, { file: name });
        }
        yield chunk;
      }
    }
    yield { name, content: counted() };
  }
}

async function* decompressed(
  source: ByteSource,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* decompressFile(source, signal);
  } catch (error) {
    throw toUploadError(error, name);
  }
}
