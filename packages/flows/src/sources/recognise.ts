import type { Mapping } from '@svc/jsonl-v23/mapping';
import { type ByteSource, PackageError, type PackageLimits } from '@svc/pkg-format';
import { type Archive, recogniseArchive } from '@svc/pkg-format/internal';
import { openFileTable, type ByteSource as TableBytes } from '@svc/tabular';
import { type PackedFile, sourceOf, type TableFile as TableFileOf, toMappable } from '@svc/tabular/internal';
import { toUploadError, UploadError } from './upload-error.ts';

/** A file of an upload, under the name that the client gave it. */
export interface UploadedFile {
  readonly name: string;
  readonly source: ByteSource & Pick<TableBytes, 'maxContentBytes'>;
  /** Hex digits. */
  readonly sha256: string;
}

/** A file with a table or with items, and the section that it becomes. */
export type TableFile = TableFileOf<UploadedFile>;

/** The tables or items of an upload. */
export interface UploadedTables {
  readonly files: readonly TableFile[];
  /** Facts of the upload as it was sent: an archive before it was unpacked. */
  readonly sentBytes: number;
}

/** What was uploaded, by its first bytes and the directories of its archives. */
export type Recognised =
  | { readonly kind: 'package' | 'legacy_package'; readonly file: UploadedFile; readonly archive: Archive }
  | { readonly kind: 'files'; readonly files: readonly PackedFile<UploadedFile>[] };

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
  const packed: PackedFile<UploadedFile>[] = [];
  const options = { limits, areTables: mapping !== null, signal };
  for (const file of files) {
    const found = await recogniseArchive(file.source, options).catch((error: unknown) => {
      if (!(error instanceof PackageError) || !OFFICE_NAME.test(file.name)) throw error;
      throw unsupported(file, 'it is a damaged Office document; save its table as CSV');
    });
    if (found === null) {
      packed.push({ file, archive: null });
      continue;
    }
    const { kind, archive } = found;
    if (kind === 'office_document') {
      throw unsupported(file, 'it is an Office document; save its table as CSV');
    }
    if (kind === 'files') packed.push({ file, archive });
    else if (files.length === 1) return { kind, file, archive };
    else throw unsupported(file, 'a package must be the only file');
  }
  return { kind: 'files', files: packed };
}

const OFFICE_NAME = /\.(?:docx|xlsx|pptx|od[tsp])$/i;

function unsupported({ name }: UploadedFile, problem: string): UploadError {
  return new UploadError('unsupported_file', `Cannot read the file: ${problem}.`, { file: name });
}

/** The error for files that come without a mapping; it lists their columns. @throws JsonlError, UploadError for a file that cannot be read */
export async function mappingRequired(
  files: readonly TableFile[],
  signal: AbortSignal,
): Promise<UploadError> {
  const file = files.find(({ detected }) => detected.format !== 'jsonl') ?? files[0];
  if (file === undefined) throw new RangeError('An upload has at least one file.');
  const { name, detected } = file;
  try {
    const table = await openFileTable(sourceOf(file), detected, { wholeFile: false, signal });
    const entries = table.features.map(toMappable).map(({ name: column, dtype }) => ({
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
