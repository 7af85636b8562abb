import type { PackageLimits } from '@svc/pkg-format';
import { type ByteSource, decompressFile } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import type { PackedFile } from './recognise.ts';
import { toUploadError, UploadError } from './upload-error.ts';

/** A file that comes out of another one. */
export interface UnpackedFile {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** As many files as an upload may have. */
const MAX_FILES = 1000;

/** Names of files beside the data of a repository. */
const DOCUMENTATION =
  /^(?:(?:readme|licen[cs]e|notice|citation|contributing|changelog|authors)(?:[._-].*)?|dataset_infos?\.(?:json|ya?ml)|\..*)$/i;
const TABLE = /\.(?:csv|tsv|jsonl|ndjson|parquet)(?:\.gz|\.zst)?$/i;

/** Whether a file is none of the tables of an archive, by its name. */
function isDocumentation(path: string): boolean {
  const folders = path.split('/');
  const name = folders.pop() ?? '';
  if (folders.some((folder) => folder === '__MACOSX' || folder.startsWith('.'))) return true;
  return DOCUMENTATION.test(name) && (name.startsWith('.') || !TABLE.test(name));
}

/** The entries of archives that are read, and those that are passed over. */
export interface Contents {
  readonly files: readonly (PackedFile & { readonly paths: readonly string[] })[];
  readonly ignored: readonly string[];
}

/**
 * Chooses the entries to unpack, from the directories of the archives alone. Documentation is passed over where an archive
 * has something else.
 *
 * @throws UploadError `unsupported_file` for too many files
 */
export function contentsOf(packed: readonly PackedFile[]): Contents {
  const ignored: string[] = [];
  let count = 0;
  const files = packed.map(({ file, archive }) => {
    const all = archive === null ? [file.name] : [...archive.files.keys()];
    const data = all.filter((path) => archive === null || !isDocumentation(path));
    const paths = data.length === 0 ? all : data;
    if (paths.length < all.length) ignored.push(...all.filter(isDocumentation));
    count += paths.length;
    if (count > MAX_FILES) {
      const message = `Cannot read the archive: it has more than ${MAX_FILES} files.`;
      throw new UploadError('unsupported_file', message, { file: file.name });
    }
    return { file, archive, paths };
  });
  return { files, ignored };
}

/**
 * Unpacks ZIP archives, and files that are compressed as a whole, one after another. Read the content of each before you
 * go on. What comes out is bounded by the limits of packages.
 *
 * @throws PackageError, UploadError `unsupported_file`, `package_limit`; errors of the files; the signal's reason
 */
export async function* unpackFiles(
  { files }: Contents,
  { maxTotalBytes }: Pick<PackageLimits, 'maxTotalBytes'>,
  signal: AbortSignal,
): AsyncGenerator<UnpackedFile> {
  let leftBytes = maxTotalBytes;
  async function* counted(name: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      leftBytes -= chunk.byteLength;
      if (leftBytes < 0) {
        const message = `Unpacked files must have at most ${maxTotalBytes} bytes (SVC_MAX_UNCOMPRESSED_BYTES).`;
        throw new UploadError('package_limit', message, { file: name });
      }
      yield chunk;
    }
  }
  for (const { file, archive, paths } of files) {
    for (const name of paths) {
      const content =
        archive === null
          ? decompressed(tableSource(name, file.source), name, signal)
          : archive.read(name, { signal });
      yield { name, content: counted(name, content) };
    }
  }
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
