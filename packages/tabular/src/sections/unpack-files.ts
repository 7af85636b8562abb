import { compareUtf8 } from '@svc/jsonl-v23/internal';
import { TableError, unreadableFile } from '../errors.ts';
import { detectFormat } from '../files/detect-format.ts';
import type { FormatHints } from '../files/file-format.ts';
import { compressionBy } from '../files/read-head.ts';
import { sectionNames } from '../files/section-names.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { withCompression } from '../source/with-compression.ts';
import { CachedFile } from '../text/cached-file.ts';
import {
  type Detected,
  type InputFile,
  labelOf,
  locateError,
  sourceOf,
  type TableFile,
} from './table-file.ts';

/** The files of an archive, by their paths. */
interface FileArchive {
  readonly files: { keys(): Iterable<string> };
  read(path: string, options: { readonly signal: AbortSignal }): AsyncIterable<Uint8Array>;
}

/** A file, and its entries if it is an archive of files. */
export interface PackedFile<F extends InputFile> {
  readonly file: F;
  readonly archive: FileArchive | null;
}

/** What is to be unpacked, and what is not. */
export interface Contents<F extends InputFile> {
  /** Files that are read as they are. */
  readonly plain: readonly Detected<F>[];
  /** Archives with the paths to unpack, and files that are compressed as a whole. */
  readonly packed: readonly (PackedFile<F> & { readonly paths: readonly string[] })[];
  /** Paths in archives that are passed over. */
  readonly ignored: readonly string[];
}

/** A file that comes out of another one. */
export interface UnpackedFile<F extends InputFile> {
  readonly name: string;
  /** As in {@link InputFile}. */
  readonly label: string;
  /** The file that it comes out of. */
  readonly from: F;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The number of files that a dataset can be made of. */
export const MAX_FILES = 1000;

/** Names of a repository's files other than its data. */
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

/**
 * Finds out the formats of files, and chooses what to unpack: the entries of archives, by their directories alone, without
 * documentation where an archive has something else; and Parquet files that are compressed as a whole.
 *
 * @throws TableError `unsupported_file`, also for more than {@link MAX_FILES} files; errors of the files
 */
export async function chooseContents<F extends InputFile>(
  files: readonly PackedFile<F>[],
  hints: FormatHints,
  signal: AbortSignal,
): Promise<Contents<F>> {
  const plain: Detected<F>[] = [];
  const packed: (PackedFile<F> & { readonly paths: readonly string[] })[] = [];
  const ignored: string[] = [];
  let count = 0;
  for (const { file, archive } of files) {
    if (archive === null) {
      count += 1;
      const detected = await detect(file, hints, signal);
      if (mustBeUnpacked(detected)) packed.push({ file, archive, paths: [file.name] });
      else plain.push(detected);
    } else {
      const all = [...archive.files.keys()];
      const data = all.filter((path) => !isDocumentation(path));
      const paths = data.length === 0 ? all : data;
      if (paths.length < all.length) ignored.push(...all.filter(isDocumentation));
      count += paths.length;
      packed.push({ file, archive, paths });
    }
    if (count > MAX_FILES) {
      const message = `Cannot read the archive: it has more than ${MAX_FILES} files.`;
      throw new TableError('unsupported_file', message, { location: { file: labelOf(file) } });
    }
  }
  return { plain, packed, ignored };
}

/**
 * Unpacks files one after another. Read the content of each before you continue.
 *
 * @param maxTotalBytes what may come out of all of them together
 * @throws TableError `too_large`; errors of the archives and files; the signal's reason
 */
export async function* unpackFiles<F extends InputFile>(
  { packed }: Pick<Contents<F>, 'packed'>,
  maxTotalBytes: number,
  signal: AbortSignal,
): AsyncGenerator<UnpackedFile<F>> {
  let leftBytes = maxTotalBytes;
  async function* counted(file: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of content) {
        leftBytes -= chunk.byteLength;
        if (leftBytes < 0) {
          throw new TableError('too_large', `Unpacked files must have at most ${maxTotalBytes} bytes.`);
        }
        yield chunk;
      }
    } catch (error) {
      throw locateError(error, file);
    }
  }
  for (const { file, archive, paths } of packed) {
    for (const name of paths) {
      const isEntry = archive !== null;
      const label = isEntry && file.label !== undefined ? `${file.label}/${name}` : (file.label ?? name);
      const content = isEntry ? archive.read(name, { signal }) : decompressFile(sourceOf(file), { signal });
      yield { name, label, from: file, content: counted(label, content) };
    }
  }
}

/**
 * The files of a dataset, in the order of their sections.
 *
 * @param unpacked what came out of the others
 * @throws TableError `unsupported_file`, `invalid_name` for two files of one name; errors of the files
 */
export async function tableFiles<F extends InputFile>(
  { plain }: Pick<Contents<F>, 'plain'>,
  unpacked: readonly F[],
  hints: FormatHints,
  signal: AbortSignal,
): Promise<TableFile<F>[]> {
  const files = [...plain];
  for (const file of unpacked) {
    const detected = await detect(file, hints, signal);
    if (mustBeUnpacked(detected)) {
      throw unreadableFile('unsupported_file', labelOf(file), 'it is compressed, within an archive');
    }
    files.push(detected);
  }
  const names = sectionNames(files.map(({ name }) => name));
  return files
    .map((file, index) => ({ ...file, section: names[index] ?? file.name }))
    .sort((a, b) => compareUtf8(a.section, b.section));
}

async function detect<F extends InputFile>(
  file: F,
  hints: FormatHints,
  signal: AbortSignal,
): Promise<Detected<F>> {
  try {
    return { ...file, detected: await detectFormat(sourceOf(file), { ...hints, signal }) };
  } catch (error) {
    throw locateError(error, labelOf(file));
  }
}

/** Whether a file is compressed as a whole in a way that no reader takes. */
function mustBeUnpacked({ detected: { format, compression } }: Detected): boolean {
  return format === 'parquet' && compression !== undefined;
}

/**
 * The content of a file, decompressed by what its first bytes are.
 *
 * @throws TableError `damaged_file`, `too_large`; errors of the source; the
 *   signal's reason
 */
async function* decompressFile(
  source: ByteSource,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const head = await source.readRange(0, Math.min(4, source.byteLength), signal);
  yield* new CachedFile(withCompression(source, compressionBy(head)), { bytes: 0 }).read(signal);
}
