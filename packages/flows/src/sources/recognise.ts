import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import type { ByteSource, PackageLimits } from '@svc/pkg-format';
import { type Archive, archiveKind, openArchive } from '@svc/pkg-format/internal';
import {
  type DetectedFile,
  detectFormat,
  dtypeOf,
  type FormatHints,
  openFileTable,
  type Table,
  type ByteSource as TableBytes,
} from '@svc/tabular';
import { sectionNames, tableSource } from '@svc/tabular/internal';
import { toUploadError, UploadError } from './upload-error.ts';

/** A file of an upload, under the name that the client gave it. */
export interface UploadedFile {
  readonly name: string;
  readonly source: ByteSource & Pick<TableBytes, 'maxContentBytes'>;
  /** Hex digits. */
  readonly sha256: string;
}

/** A file with a table or with items, and the section that it becomes. */
export interface TableFile extends UploadedFile {
  readonly section: string;
  readonly detected: DetectedFile;
}

/** A file, and its entries if it is an archive of files. */
export interface PackedFile {
  readonly file: UploadedFile;
  readonly archive: Archive | null;
}

/** What was uploaded, by its first bytes and the directories of its archives. */
export type Recognised =
  | { readonly kind: 'package' | 'legacy_package'; readonly file: UploadedFile; readonly archive: Archive }
  | { readonly kind: 'archives'; readonly files: readonly PackedFile[] }
  | { readonly kind: 'files' };

/**
 * Finds out whether an upload is a package, an older archive, or files, some of which may be archives of files. With a
 * mapping, the files of an archive are tables, also those that could be items.
 *
 * @throws PackageError for a ZIP archive that cannot be read; UploadError `unsupported_file`; errors of the files
 */
export async function recognise(
  files: readonly UploadedFile[],
  mapping: Mapping | null,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<Recognised> {
  const packed: PackedFile[] = [];
  for (const file of files) {
    if (!(await isZip(file.source))) {
      packed.push({ file, archive: null });
      continue;
    }
    const archive = await openArchive(file.source, limits, () => Promise.resolve());
    const kind = await archiveKind(archive, signal);
    if (kind === 'office_document') throw officeDocument(file.name);
    const areTables = kind === 'legacy_package' && mapping !== null && !archive.files.has('manifest.json');
    if (kind === 'files' || areTables) packed.push({ file, archive });
    else if (files.length === 1) return { kind, file, archive };
    else throw notAlone(file.name);
  }
  return packed.some(({ archive }) => archive !== null)
    ? { kind: 'archives', files: packed }
    : { kind: 'files' };
}

async function isZip(source: ByteSource): Promise<boolean> {
  const head = Buffer.from(await source.read(0, Math.min(4, source.byteLength))).toString('latin1');
  return head === 'PK\x03\x04' || head === 'PK\x05\x06';
}

/**
 * Finds out the format of each file, and sorts them by the sections that they become.
 *
 * @throws UploadError `unsupported_file`, `invalid_request` for two files of one name; errors of the files
 */
export async function detectFiles(
  files: readonly UploadedFile[],
  hints: FormatHints,
  signal: AbortSignal,
): Promise<TableFile[]> {
  const names = sectionsOf(files);
  const found: TableFile[] = [];
  for (const [index, file] of files.entries()) {
    const { name, source } = file;
    try {
      const detected = await detectFormat(tableSource(name, source), { ...hints, signal });
      found.push({ ...file, detected, section: names[index] ?? name });
    } catch (error) {
      throw toUploadError(error, name);
    }
  }
  return found.sort((a, b) => Buffer.compare(Buffer.from(a.section), Buffer.from(b.section)));
}

/** Whether a file is compressed as a whole in a way that no reader takes. */
export function mustBeUnpacked({ detected }: TableFile): boolean {
  return detected.format === 'parquet' && detected.compression !== undefined;
}

/** The names of the sections. @throws UploadError `invalid_request` */
function sectionsOf(files: readonly UploadedFile[]): string[] {
  try {
    return sectionNames(files.map(({ name }) => name));
  } catch (error) {
    throw toUploadError(error, '');
  }
}

function officeDocument(file: string): UploadError {
  const message = 'Cannot read the file: it is an Office document; save its table as CSV.';
  return new UploadError('unsupported_file', message, { file });
}

function notAlone(file: string): UploadError {
  return new UploadError('unsupported_file', 'Cannot read the file: a package must be the only file.', {
    file,
  });
}

/** The columns of a table, as a mapping sees them. */
export function columnsOf({ features }: Pick<Table, 'features'>): MappableFeature[] {
  return features.map(({ name, feature }) => ({ name, dtype: dtypeOf(feature) }));
}

/** The error for files that come without a mapping; it lists their columns. @throws JsonlError, UploadError for a file that cannot be read */
export async function mappingRequired(
  files: readonly TableFile[],
  signal: AbortSignal,
): Promise<UploadError> {
  const file = files.find(({ detected }) => detected.format !== 'jsonl') ?? files[0];
  if (file === undefined) throw new RangeError('An upload has at least one file.');
  const { name, source, detected } = file;
  try {
    const table = await openFileTable(tableSource(name, source), detected, { wholeFile: false, signal });
    const entries = columnsOf(table).map(({ name: column, dtype }) => ({
      message: `Column ${JSON.stringify(column.slice(0, 100))} has the type ${dtype.slice(0, 100)}.`,
      file: name,
    }));
    const message = `A ${detected.format} file needs a mapping, which says which column becomes the prompt.`;
    return new UploadError('mapping_required', message, {}, entries.slice(0, MAX_ENTRIES));
  } catch (error) {
    throw toUploadError(error, name);
  }
}

const MAX_ENTRIES = 100;
