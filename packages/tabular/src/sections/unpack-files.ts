import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { shorten, TableError, unreadableFile } from '../errors.ts';
import { type Inspection, inspectFile, noTable } from '../files/detect-format.ts';
import { type FormatHints, formatByName } from '../files/file-format.ts';
import { compressionBy } from '../files/read-head.ts';
import { type ByteSource, withCompression } from '../source/byte-source.ts';
import { CachedFile } from '../text/cached-file.ts';
import { listSkipped, type SkippedFile, type SkippedFiles, skippedByName } from './skipped-files.ts';
import {
  type Detected,
  type InputFile,
  labelOf,
  locateError,
  sectionNames,
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
  /** Whether it was found in a folder, and is passed over if it is no table; default false. */
  readonly isFound?: boolean;
}

/** How surely a file is a table: among files found beside others, only the surest are read. */
type Certainty = 'table' | 'object' | 'text' | 'unnamed' | 'unknown';

/** A file that may be read. */
interface Candidate<F extends InputFile> {
  readonly file: Detected<F>;
  readonly certainty: Certainty;
  readonly isFound: boolean;
}

/** What is to be unpacked, and what is not. */
export interface Contents<F extends InputFile> {
  /** Files that need not be unpacked. */
  readonly plain: readonly Candidate<F>[];
  /** Archives with the paths to unpack, and files that are compressed as a whole. */
  readonly packed: readonly (PackedFile<F> & { readonly paths: readonly string[] })[];
  /** Files that are passed over, the others not yet unpacked. */
  readonly skipped: readonly SkippedFile[];
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

/**
 * Finds out the formats of files, and chooses what to unpack: the entries of archives, by their directories alone,
 * except entries whose name says that they are no tables; and Parquet files that are compressed as a whole.
 *
 * @throws TableError `unsupported_file`, also for more than {@link MAX_FILES} files; errors of the files
 */
export async function chooseContents<F extends InputFile>(
  files: readonly PackedFile<F>[],
  hints: FormatHints,
  signal: AbortSignal,
): Promise<Contents<F>> {
  const plain: Candidate<F>[] = [];
  const packed: (PackedFile<F> & { readonly paths: readonly string[] })[] = [];
  const skipped: SkippedFile[] = [];
  let count = 0;
  for (const { file, archive, isFound = false } of files) {
    if (archive === null) {
      count += 1;
      const found = await inspect(file, isFound, hints, signal);
      if ('reason' in found) skipped.push(found);
      else if (mustBeUnpacked(found.file)) packed.push({ file, archive, paths: [file.name] });
      else plain.push(found);
    } else {
      const paths: string[] = [];
      for (const name of archive.files.keys()) {
        const reason = skippedByName(name);
        if (reason === null) paths.push(name);
        else skipped.push({ name, reason });
      }
      count += paths.length;
      packed.push({ file, archive, paths });
    }
    if (count > MAX_FILES) {
      const message = `Cannot read the archive: it has more than ${MAX_FILES} files.`;
      throw new TableError('unsupported_file', message, { location: { file: labelOf(file) } });
    }
  }
  return { plain, packed, skipped };
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

/** The files of a dataset, and the files that are passed over. */
export interface ChosenFiles<F extends InputFile> {
  /** In the order of their sections. */
  readonly files: readonly TableFile<F>[];
  readonly skipped: SkippedFiles;
}

/**
 * The files of a dataset. It passes over files of archives and folders that are no tables: text, and a JSON object that
 * is no list, only count if there is nothing else.
 *
 * @param unpacked what came out of the others
 * @throws TableError `unsupported_file`, also if nothing is left, `invalid_name` for two files of one name; errors of
 *   the files
 */
export async function tableFiles<F extends InputFile>(
  { plain, packed, skipped: before }: Contents<F>,
  unpacked: readonly F[],
  hints: FormatHints,
  signal: AbortSignal,
): Promise<ChosenFiles<F>> {
  const candidates = [...plain];
  const skipped = [...before];
  for (const file of unpacked) {
    const found = await inspect(file, true, hints, signal);
    if ('reason' in found) skipped.push(found);
    else if (mustBeUnpacked(found.file)) {
      throw unreadableFile('unsupported_file', labelOf(file), 'it is compressed, within an archive');
    } else candidates.push(found);
  }
  const surest = CERTAINTIES.find((each) => candidates.some(({ certainty }) => certainty === each));
  const files: Detected<F>[] = [];
  for (const { file, certainty, isFound } of candidates) {
    if (!isFound || (certainty === surest && certainty !== 'unknown')) files.push(file);
    else skipped.push({ name: file.name, reason: REASONS[certainty] });
  }
  const listed = listSkipped(skipped);
  if (files.length === 0) throw nothingLeft(listed, packed[0]?.file);
  const names = sectionNames(files.map(({ name }) => name));
  const sections = files.map((file, index) => ({ ...file, section: names[index] ?? file.name }));
  return { files: sections.sort((a, b) => compareUtf8(a.section, b.section)), skipped: listed };
}

const CERTAINTIES: readonly Certainty[] = ['table', 'object', 'text', 'unnamed', 'unknown'];
const REASONS: Readonly<Record<Certainty, string>> = {
  table: 'it is a table',
  object: 'it is one JSON object, and others are tables',
  text: 'it is plain text, and others are not',
  unnamed: 'its name is not that of a table, as those of others are',
  unknown: 'neither its name nor its content says that it is a table',
};
/** Files that an error names. */
const MAX_NAMED = 5;

function nothingLeft({ first, total }: SkippedFiles, archive: InputFile | undefined): TableError {
  const named = first.slice(0, MAX_NAMED).map(({ name, reason }) => `${shorten(name)} (${reason})`);
  const more = total > named.length ? ` and ${total - named.length} more` : '';
  const place = archive === undefined ? 'folder' : 'archive';
  const message = `Cannot read the ${place}: none of its files is a table; it holds ${named.join(', ')}${more}.`;
  const location = archive === undefined ? {} : { location: { file: labelOf(archive) } };
  return new TableError('unsupported_file', message, location);
}

/** Finds out what a file is. Why it is passed over, if it was found beside others and has no table. */
async function inspect<F extends InputFile>(
  file: F,
  isFound: boolean,
  hints: FormatHints,
  signal: AbortSignal,
): Promise<Candidate<F> | SkippedFile> {
  const { name } = file;
  try {
    const found = await inspectFile(sourceOf(file), { ...hints, signal });
    if ('detected' in found) {
      const { detected } = found;
      return { file: { ...file, detected }, certainty: certaintyOf(name, found, hints), isFound };
    }
    if (isFound) return { name, reason: found.reason };
    throw noTable(labelOf(file), found);
  } catch (error) {
    const isOther = isFound && error instanceof TableError && formatByName(name) === undefined;
    if (isOther) return { name, reason: REASONS.unknown };
    throw locateError(error, labelOf(file));
  }
}

function certaintyOf(
  name: string,
  { detected: { format }, isObject }: Extract<Inspection, { readonly detected: unknown }>,
  hints: FormatHints,
): Certainty {
  const named = formatByName(name);
  // With a given format, only the name tells.
  if (hints.format !== undefined) return named === undefined ? 'unnamed' : 'table';
  if (format === 'text') return named === 'text' ? 'text' : 'unknown';
  return isObject ? 'object' : 'table';
}

/** Whether a file is compressed as a whole in a way that no reader takes. */
function mustBeUnpacked({ detected: { format, compression } }: Detected): boolean {
  return format === 'parquet' && compression !== undefined;
}

/**
 * The content of a file, decompressed by what its first bytes are.
 *
 * @throws TableError `damaged_file`, `too_large`; errors of the source; the signal's reason
 */
async function* decompressFile(
  source: ByteSource,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const head = await source.readRange(0, Math.min(4, source.byteLength), signal);
  yield* new CachedFile(withCompression(source, compressionBy(head)), { bytes: 0 }).read(signal);
}
