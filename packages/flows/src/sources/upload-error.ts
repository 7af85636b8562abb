import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { TableError, type TableErrorCode } from '@svc/tabular';

/** One of several things that an error names. */
export interface UploadErrorEntry {
  readonly message: string;
  readonly path?: string;
  readonly file?: string;
}

/** An uploaded file that is not read, a table that comes without a mapping, or files whose names do not fit together. */
export class UploadError extends Error {
  override readonly name: string = 'UploadError';
  readonly code: 'unsupported_file' | 'package_limit' | 'mapping_required' | 'invalid_request';
  readonly location: SourceLocation;
  readonly entries: readonly UploadErrorEntry[];

  constructor(
    code: UploadError['code'],
    message: string,
    location: SourceLocation = {},
    entries: readonly UploadErrorEntry[] = [],
    cause?: unknown,
  ) {
    super(message, { cause });
    this.code = code;
    this.location = location;
    this.entries = entries;
  }
}

/** The error of an upload for an error of one of its files; errors of rows get the name of the file. */
export function toUploadError(error: unknown, file: string): unknown {
  if (error instanceof TableError) {
    // For the one who opened the file.
    if (error.code === 'type_changed') return error;
    const location = { file, ...error.location };
    if (error.code === 'invalid_row') {
      return new JsonlError('invalid_row', error.message, location, { cause: error });
    }
    const code = CODES[error.code] ?? 'unsupported_file';
    const names = code === 'package_limit' ? ' (SVC_MAX_UNCOMPRESSED_BYTES, SVC_MAX_EXPANSION_RATIO).' : '.';
    return new UploadError(code, error.message.replace(/\.$/, names), location, [], error);
  }
  if (!(error instanceof JsonlError) || error.location.file !== undefined) return error;
  if (error.code === 'invalid_mapping') return error;
  return new JsonlError(error.code, error.message, { ...error.location, file }, { cause: error });
}

const CODES: Partial<Record<TableErrorCode, UploadError['code']>> = {
  invalid_name: 'invalid_request',
  too_large: 'package_limit',
};
