import { JsonlError } from '@svc/jsonl-v23';
import { TableError } from '../errors.ts';
import type { DetectedFile } from '../files/file-format.ts';
import { type RandomAccess, tableSource } from '../files/table-source.ts';
import type { ByteSource } from '../source/byte-source.ts';

/** A file from which a dataset is made. */
export interface InputFile {
  /** The name in sections, provenance and skipped rows. */
  readonly name: string;
  /** What errors call the file; by default its name. */
  readonly label?: string | undefined;
  readonly source: RandomAccess;
}

/** A file with a table or with items. */
export type Detected<F extends InputFile = InputFile> = F & { readonly detected: DetectedFile };

/** A file with a table or with items, and the section that it becomes. */
export type TableFile<F extends InputFile = InputFile> = Detected<F> & { readonly section: string };

/** What errors call a file. */
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
