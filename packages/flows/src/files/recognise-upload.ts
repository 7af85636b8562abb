import { JsonlError, type MappableFeature } from '@svc/jsonl-v23';
import type { ByteSource as ArchiveBytes, PackageLimits } from '@svc/pkg-format';
import { openArchive } from '@svc/pkg-format/internal';
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
  | { readonly kind: 'package' | 'legacy_package' | 'packed' }
  | { readonly kind: 'items' | 'table'; readonly files: readonly TableFile[] };

/**
 * Finds out what an upload is, from the first bytes of its files.
 *
 * @throws PackageError for a ZIP archive that cannot be read; UploadError `unsupported_file`; JsonlError `invalid_mapping`
 *   for two files of one name; errors of the sources; the signal's reason
 */
export async function recogniseUpload(
  files: readonly UploadedFile[],
  request: FileRequest,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<Recognised> {
  const [first] = files;
  if (first !== undefined && files.length === 1 && (await isZip(first.source))) {
    return { kind: await archiveKind(first, request, limits) };
  }
  const names = sectionNames(files.map(({ name }) => name));
  const found: TableFile[] = [];
  for (const [index, file] of files.entries()) {
    const { name, source } = file;
    try {
      const detected = await detectFormat(tableSource(name, source), request.hints, signal);
      if (detected.format === 'parquet' && detected.compression !== null) return { kind: 'packed' };
      found.push({ ...file, detected, section: names[index] ?? name });
    } catch (error) {
      throw toUploadError(error, name);
    }
  }
  found.sort((a, b) => Buffer.compare(Buffer.from(a.section), Buffer.from(b.section)));
  const areItems = request.mapping === null && found.every(({ detected }) => detected.format === 'jsonl');
  return { kind: areItems ? 'items' : 'table', files: found };
}

async function isZip(source: ArchiveBytes): Promise<boolean> {
  const head = Buffer.from(await source.read(0, Math.min(4, source.byteLength))).toString('latin1');
  return head === 'PK\x03\x04' || head === 'PK\x05\x06';
}

/** A mapping says that the files of an archive are tables; without one, an older archive has JSON with items. */
async function archiveKind(
  { name, source }: UploadedFile,
  { mapping }: FileRequest,
  limits: Partial<PackageLimits>,
): Promise<'package' | 'legacy_package' | 'packed'> {
  const { files } = await openArchive(source, limits, () => Promise.resolve());
  const paths = [...files.keys()];
  if (paths.includes('[Content_Types].xml')) throw officeDocument(name);
  if (paths.length === 0 || paths.some((path) => /^sections\/.*\.jsonl$/.test(path))) return 'package';
  if (mapping === null && paths.some((path) => /\.jsonl?$/i.test(path))) return 'legacy_package';
  if (paths.some((path) => path === 'manifest.json')) return 'package';
  return 'packed';
}

function officeDocument(file: string): UploadError {
  const message = 'Cannot read the file: it is an Office document; save its table as CSV.';
  return new UploadError('unsupported_file', message, { file });
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
  if (file === undefined) throw new JsonlError('invalid_mapping', 'The upload has no files.');
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
