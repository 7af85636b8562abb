import type { PackageLimits } from '@svc/pkg-format';
import { openArchive } from '@svc/pkg-format/internal';
import { type ByteSource, decompressFile } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import type { UploadedFile } from './recognise.ts';
import { toUploadError, UploadError } from './upload-error.ts';

/** A file that comes out of another one. */
export interface UnpackedFile {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** As many files as an upload may have. */
const MAX_FILES = 1000;

/**
 * Unpacks ZIP archives, and files that are compressed as a whole, one after another. Read the content of each before you
 * go on. What comes out is bounded by the limits of packages.
 *
 * @throws PackageError, UploadError `unsupported_file`; errors of the source; the signal's reason
 */
export async function* unpackFiles(
  files: readonly UploadedFile[],
  limits: Partial<PackageLimits> & Pick<PackageLimits, 'maxTotalBytes'>,
  signal: AbortSignal,
): AsyncGenerator<UnpackedFile> {
  let leftBytes = limits.maxTotalBytes;
  let count = 0;
  for (const file of files) {
    for await (const { name, content } of contentsOf(file, limits, signal)) {
      count += 1;
      if (count > MAX_FILES) {
        const message = `Cannot read the archive: it has more than ${MAX_FILES} files.`;
        throw new UploadError('unsupported_file', message, { file: file.name });
      }
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const chunk of content) {
          leftBytes -= chunk.byteLength;
          if (leftBytes < 0) {
            const message = `Cannot read the file: unpacked files must have at most ${limits.maxTotalBytes} bytes.`;
            throw new UploadError('unsupported_file', message, { file: name });
          }
          yield chunk;
        }
      }
      yield { name, content: counted() };
    }
  }
}

/** The files of an archive, or one file, decompressed. */
async function* contentsOf(
  { name, source }: UploadedFile,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): AsyncGenerator<UnpackedFile> {
  const head = Buffer.from(await source.read(0, Math.min(2, source.byteLength))).toString('latin1');
  if (head !== 'PK') {
    yield { name, content: decompressed(tableSource(name, source), name, signal) };
    return;
  }
  const archive = await openArchive(source, limits, () => Promise.resolve());
  for (const path of archive.files.keys()) yield { name: path, content: archive.read(path, { signal }) };
}

async function* decompressed(
  source: ByteSource,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* decompressFile(source, { signal });
  } catch (error) {
    throw toUploadError(error, name);
  }
}
