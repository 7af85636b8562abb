import type { ByteSource } from '@svc/pkg-format';
import type { ByteSource as TableBytes } from '@svc/tabular';
import type { SkippedFiles, TableFile as TableFileOf } from '@svc/tabular/internal';

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
  /** Files of archives that are no tables. */
  readonly skipped: SkippedFiles;
}
