import { JsonlError, toDatasetName, withoutControls } from '@svc/jsonl-v23';
import { FREE_EXPANSION_BYTES, type ImportLimits } from '@svc/jsonl-v23/imports';
import { TableError } from '../errors.ts';
import { type DetectedFile, withoutFormat } from '../files/file-format.ts';
import { type ByteSource, type RandomAccess, tableSource } from '../source/byte-source.ts';

/** A file from which a dataset is made. */
export interface InputFile {
  /** The name in sections, provenance and skipped rows. */
  readonly name: string;
  /** What errors call the file; by default its name. */
  readonly label?: string | undefined;
  readonly source: RandomAccess;
}

export type Detected<F extends InputFile = InputFile> = F & { readonly detected: DetectedFile };

/** A file with a table or with items, and the section that it becomes. */
export type TableFile<F extends InputFile = InputFile> = Detected<F> & { readonly section: string };

export const labelOf = ({ name, label = name }: Pick<InputFile, 'name' | 'label'>): string => label;

/** A file as a source of tables. */
export function sourceOf(file: InputFile): ByteSource {
  return tableSource(labelOf(file), file.source);
}

/** An error of a file, with its location in the file. Errors of rows and items are JsonlErrors. */
export function locateError(error: unknown, file: string): unknown {
  if (error instanceof TableError) {
    const location = { file, ...error.location };
    const { code, message } = error;
    if (code === 'invalid_row') return new JsonlError(code, message, location, { cause: error });
    return new TableError(code, message, { location, cause: error });
  }
  if (!(error instanceof JsonlError) || error.location.file !== undefined) return error;
  // A mapping is not part of a file.
  if (error.code === 'invalid_mapping') return error;
  return new JsonlError(error.code, error.message, { ...error.location, file }, { cause: error });
}

/**
 * The names of files without their format, their compression and control characters; one file becomes `default`.
 * @throws TableError `invalid_name` for two files of one name, and for one without a name
 */
export function sectionNames(files: readonly string[]): string[] {
  if (files.length === 1) return [DEFAULT_SECTION];
  const names = files.map((file) => {
    const plain = withoutControls(file);
    const bare = withoutFormat(plain);
    return bare === '' ? plain : bare;
  });
  const taken = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (name === '') throw new TableError('invalid_name', 'Each of several files must have a name.');
    if (taken.has(name)) {
      const message = `Two files would become the section ${JSON.stringify(name.slice(0, 100))}.`;
      throw new TableError('invalid_name', message, { location: { file: files[index] ?? name } });
    }
    taken.add(name);
  }
  return names;
}

const DEFAULT_SECTION = 'default';

/** The name of a dataset by its first file. */
export function datasetNameOf(files: readonly { readonly name: string }[]): string {
  const [first] = files;
  const base = withoutControls(first?.name.split(/[/\\]/).at(-1) ?? '');
  return toDatasetName(withoutFormat(base), 'upload');
}

/**
 * A file whose content may have at most the bytes that the limits of an import allow.
 *
 * @param sentBytes of the archive that the file comes from: the ratios of the two do not multiply
 */
export function limitContent<S extends RandomAccess>(
  source: S,
  {
    maxTotalBytes = Number.POSITIVE_INFINITY,
    maxExpansionRatio = Number.POSITIVE_INFINITY,
  }: Partial<Pick<ImportLimits, 'maxTotalBytes' | 'maxExpansionRatio'>>,
  sentBytes: number = source.byteLength,
): S & { readonly maxContentBytes: number } {
  const packedBytes = Math.min(source.byteLength, sentBytes);
  const expandedBytes = Math.max(FREE_EXPANSION_BYTES, packedBytes * maxExpansionRatio);
  return { ...source, maxContentBytes: Math.min(maxTotalBytes, expandedBytes) };
}
