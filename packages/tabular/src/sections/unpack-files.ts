import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { shorten, TableError, unreadableFile } from '../errors.ts';
import { type Inspection, inspectFile, noTable } from '../files/detect-format.ts';
import { type FormatHints, formatByName } from '../files/file-format.ts';
import { withCompression } from '../source/byte-source.ts';
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

interface Candidate<F extends InputFile> {
  readonly file: Detected<F>;
  readonly certainty: Certainty;
  readonly isFound: boolean;
}

interface UnpackedFile<F extends InputFile> {
  readonly name: string;
  /** As in {@link InputFile}. */
  readonly label: string;
  readonly from: F;
  /** To be read to its end before the next file comes. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** How tables are chosen from files. */
export interface ChooseOptions<F extends InputFile> {
  /** What is known of all files. */
  readonly hints: FormatHints;
  /** Bytes that may come out of all archives together. */
  readonly maxTotalBytes: number;
  /** Stores a file that comes out of another one, and opens it. */
  readonly store: (unpacked: UnpackedFile<F>) => Promise<F>;
  /** Files that have been passed over already. */
  readonly skipped?: readonly SkippedFile[];
  readonly signal: AbortSignal;
}

/** The files of a dataset, and the files that are passed over. */
export interface ChosenFiles<F extends InputFile> {
  /** In the order of their sections. */
  readonly files: readonly TableFile<F>[];
  readonly skipped: SkippedFiles;
}

/** The number of files that a dataset can be made of. */
export const MAX_FILES = 1000;

/**
 * Finds out the formats of files, and chooses those of a dataset. It unpacks the entries of archives, except entries whose
 * name says that they are no tables, and Parquet files that are compressed as a whole. It passes over files of archives and
 * folders that are no tables: text, and a JSON object that is no list, only count if there is nothing else.
 *
 * @throws TableError `unsupported_file`, also for more than {@link MAX_FILES} files and if nothing is left, `too_large`,
 *   `invalid_name` for two files of one name; errors of the archives and files; the signal's reason
 */
export async function chooseTables<F extends InputFile>(
  files: readonly PackedFile<F>[],
  { hints, maxTotalBytes, store, skipped: before = [], signal }: ChooseOptions<F>,
): Promise<ChosenFiles<F>> {
  const candidates: Candidate<F>[] = [];
  const packed: Packed<F>[] = [];
  const skipped = [...before];
  let count = 0;
  for (const { file, archive, isFound = false } of files) {
    if (archive === null) {
      count += 1;
      const found = await inspect(file, isFound, hints, signal);
      if ('reason' in found) skipped.push(found);
      else if (mustBeUnpacked(found.file)) {
        const source = withCompression(sourceOf(file), found.file.detected.compression);
        const entry = { name: file.name, label: labelOf(file) };
        packed.push({ file, entries: [entry], read: () => new CachedFile(source).read(signal) });
      } else candidates.push(found);
    } else {
      const entries: { name: string; label: string }[] = [];
      for (const name of archive.files.keys()) {
        const reason = skippedByName(name);
        if (reason !== null) skipped.push({ name, reason });
        else entries.push({ name, label: file.label === undefined ? name : `${file.label}/${name}` });
      }
      count += entries.length;
      packed.push({ file, entries, read: (name) => archive.read(name, { signal }) });
    }
    if (count > MAX_FILES) {
      const message = `Cannot read the archive: it has more than ${MAX_FILES} files.`;
      throw new TableError('unsupported_file', message, { location: { file: labelOf(file) } });
    }
  }
  const unpacked: F[] = [];
  for (const each of unpack(packed, maxTotalBytes)) unpacked.push(await store(each));
  for (const file of unpacked) {
    const found = await inspect(file, true, hints, signal);
    if ('reason' in found) skipped.push(found);
    else if (mustBeUnpacked(found.file)) {
      throw unreadableFile('unsupported_file', labelOf(file), 'it is compressed, within an archive');
    } else candidates.push(found);
  }
  const surest = CERTAINTIES.find((each) => candidates.some(({ certainty }) => certainty === each));
  const chosen: Detected<F>[] = [];
  for (const { file, certainty, isFound } of candidates) {
    if (!isFound || (certainty === surest && certainty !== 'unknown')) chosen.push(file);
    else skipped.push({ name: file.name, reason: REASONS[certainty] });
  }
  const listed = listSkipped(skipped);
  if (chosen.length === 0) throw nothingLeft(listed, packed[0]?.file);
  const names = sectionNames(chosen.map(({ name }) => name));
  const sections = chosen.map((file, index) => ({ ...file, section: names[index] ?? file.name }));
  return { files: sections.sort((a, b) => compareUtf8(a.section, b.section)), skipped: listed };
}

/** An archive with the entries to unpack, or a file that is compressed as a whole, its only entry. */
interface Packed<F extends InputFile> {
  readonly file: F;
  readonly entries: readonly Pick<UnpackedFile<F>, 'name' | 'label'>[];
  readonly read: (name: string) => AsyncIterable<Uint8Array>;
}

/** The entries of all files, whose contents must have at most `maxTotalBytes`. */
function* unpack<F extends InputFile>(
  packed: readonly Packed<F>[],
  maxTotalBytes: number,
): Generator<UnpackedFile<F>> {
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
  for (const { file, entries, read } of packed) {
    for (const { name, label } of entries) {
      yield { name, label, from: file, content: counted(label, read(name)) };
    }
  }
}

const CERTAINTIES: readonly Certainty[] = ['table', 'object', 'text', 'unnamed', 'unknown'];
const REASONS: Readonly<Record<Certainty, string>> = {
  table: 'it is a table',
  object: 'it is one JSON object, and others are tables',
  text: 'it is plain text, and others are not',
  unnamed: 'its name is not that of a table, as those of others are',
  unknown: 'neither its name nor its content says that it is a table',
};
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
