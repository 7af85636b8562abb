import type { MappableFeature } from '@svc/jsonl-v23/mapping';
import type { ByteSource as ArchiveBytes, PackageLimits } from '@svc/pkg-format';
import { type Archive, archiveKind, openArchive } from '@svc/pkg-format/internal';
import { type DetectedFile, detectFormat, dtypeOf, openFileTable, type Table } from '@svc/tabular';
import { sectionNames, tableSource } from '@svc/tabular/internal';
import type { FileRequest } from '../requests.ts';
import { toUploadError, UploadError } from './upload-error.ts';

/** A file of an upload, under the name that the client gave it. */
export interface UploadedFile {
  readonly name: string;
  readonly source: ArchiveBytes;
}

/** A file with a table or with items, and the section that it becomes. */
export interface TableFile extends UploadedFile {
  readonly section: string;
  readonly detected: DetectedFile;
}

/** What was uploaded, by its content. `packed` are files that must be unpacked before they can be read. */
export type Recognised =
  /** The archive is checked; it reads the source that was given. */
  | { readonly kind: 'package'; readonly archive: Archive }
  | { readonly kind: 'legacy_package' | 'packed' }
  | { readonly kind: 'items' | 'table'; readonly files: readonly TableFile[] };

/**
 * Finds out what an upload is, from the first bytes of its files.
 *
 * @throws PackageError for a ZIP archive that cannot be read; UploadError `unsupported_file`, `invalid_request` for two
 *   files of one name; errors of the sources; the signal's reason
 */
export async function recogniseUpload(
  files: readonly UploadedFile[],
  request: FileRequest,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<Recognised> {
  let isPacked = false;
  for (const file of files) {
    if (!(await isZip(file.source))) continue;
    const found = await recogniseArchive(file, request, limits, signal);
    if (files.length === 1) return found;
    if (found.kind !== 'packed') throw notAlone(file.name);
    isPacked = true;
  }
  if (isPacked) return { kind: 'packed' };
  const names = namesOf(files);
  const found: TableFile[] = [];
  for (const [index, file] of files.entries()) {
    const { name, source } = file;
    try {
      const detected = await detectFormat(tableSource(name, source), { ...request.hints, signal });
      if (detected.format === 'parquet' && detected.compression !== undefined) return { kind: 'packed' };
      found.push({ ...file, detected, section: names[index] ?? name });
    } catch (error) {
      throw toUploadError(error, name);
    }
  }
  found.sort((a, b) => Buffer.compare(Buffer.from(a.section), Buffer.from(b.section)));
  const areItems = request.mapping === null && found.every(({ detected }) => detected.format === 'jsonl');
  return { kind: areItems ? 'items' : 'table', files: found };
}

/** The names of the sections. @throws UploadError `invalid_request` */
function namesOf(files: readonly UploadedFile[]): string[] {
  try {
    return sectionNames(files.map(({ name }) => name));
  } catch (error) {
    throw toUploadError(error, '');
  }
}

async function isZip(source: ArchiveBytes): Promise<boolean> {
  const head = Buffer.from(await source.read(0, Math.min(4, source.byteLength))).toString('latin1');
  return head === 'PK\x03\x04' || head === 'PK\x05\x06';
}

/** With a mapping, the files of an archive are tables, also those that could be items. */
async function recogniseArchive(
  { name, source }: UploadedFile,
  { mapping }: FileRequest,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<Exclude<Recognised, { readonly files: unknown }>> {
  const archive = await openArchive(source, limits, () => Promise.resolve());
  const kind = await archiveKind(archive, signal);
  if (kind === 'office_document') throw officeDocument(name);
  const areTables = kind === 'legacy_package' && mapping !== null && !archive.files.has('manifest.json');
  if (kind === 'files' || areTables) return { kind: 'packed' };
  return kind === 'package' ? { kind, archive } : { kind };
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

/**
 * Reports that the files need a mapping, and lists their columns.
 *
 * @throws UploadError `mapping_required`; JsonlError, UploadError for a file that cannot be read
 */
export async function requireMapping(files: readonly TableFile[], signal: AbortSignal): Promise<never> {
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
    throw new UploadError('mapping_required', message, {}, entries.slice(0, MAX_ENTRIES));
  } catch (error) {
    throw toUploadError(error, name);
  }
}

const MAX_ENTRIES = 100;
