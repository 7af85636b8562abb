import type { SourceLocation } from '@svc/jsonl-v23';
import type { ByteSource } from '@svc/pkg-format';
import { type ByteSource as TableBytes, TableError, type TableErrorCode } from '@svc/tabular';
import { locateError, type SkippedFiles, type TableFile as TableFileOf } from '@svc/tabular/datasets';

export interface UploadedFile {
  readonly name: string;
  readonly source: ByteSource & Pick<TableBytes, 'maxContentBytes'>;
  readonly sha256: string;
}

export type TableFile = TableFileOf<UploadedFile>;

export interface UploadedTables {
  readonly files: readonly TableFile[];
  /** Facts of the upload as it was sent: an archive before it was unpacked. */
  readonly sentBytes: number;
  readonly skipped: SkippedFiles;
}

interface UploadErrorEntry {
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

/**
 * The error of an upload for an error of one of its files; errors of rows get the name of the file.
 *
 * @param file if the error may not name it
 */
export function toUploadError(error: unknown, file = ''): unknown {
  const located = locateError(error, file);
  // `type_changed` is handled by the source, which opens the files again.
  if (!(located instanceof TableError) || located.code === 'type_changed') return located;
  const code = CODES[located.code] ?? 'unsupported_file';
  const names = code === 'package_limit' ? ' (SVC_MAX_UNCOMPRESSED_BYTES, SVC_MAX_EXPANSION_RATIO).' : '.';
  return new UploadError(code, located.message.replace(/\.$/, names), located.location, [], located);
}

const CODES: Partial<Record<TableErrorCode, UploadError['code']>> = {
  invalid_name: 'invalid_request',
  too_large: 'package_limit',
};
