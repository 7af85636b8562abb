import { createHash } from 'node:crypto';
import { linesToBytes } from '@svc/pkg-format/internal';
import { parquetWriterVersion, type TableColumn, writeCsv, writeParquet } from '@svc/tabular/write';

/** A change to the bytes of tables needs another number, so that entity tags change too. */
const TABLE_VERSION = 1;

export type TableFormat = 'csv' | 'jsonl' | 'parquet';

export interface TableOptions<Row> {
  readonly format: TableFormat;
  /** In the order of the table. */
  readonly columns: readonly TableColumn<Row>[];
  /** For CSV: see `writeCsv`. */
  readonly isForExcel?: boolean;
}

/** A table that can be written. */
export interface TableExport {
  /** `<name>.items.csv`, safe on every file system. */
  readonly fileName: string;
  readonly mediaType: string;
  /** Identifies the table's bytes; includes the quotes. Null while rows are still to come. */
  readonly etag: string | null;
  /** The table's bytes, as fast as they are taken. */
  bytes(): AsyncIterable<Uint8Array>;
}

export const MEDIA_TYPES: Readonly<Record<TableFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl',
  parquet: 'application/vnd.apache.parquet',
};

/**
 * A table of rows.
 *
 * @param table `baseName`: its file name without extension; `source`: what its bytes are made from, null while rows are still to
 *   come; `read`: reads the rows when the bytes are taken
 */
export function tableExport<Row>(
  table: {
    readonly baseName: string;
    readonly source: readonly unknown[] | null;
    readonly read: () => AsyncIterable<readonly Row[]>;
  },
  options: TableOptions<Row>,
): TableExport {
  const { baseName, source, read } = table;
  return {
    fileName: `${baseName}.${options.format}`,
    mediaType: MEDIA_TYPES[options.format],
    etag: source === null ? null : tableEtag(source, options),
    bytes: () => writeTable(read(), options),
  };
}

/** The entity tag of a table: of what it was made from, and how. */
function tableEtag<Row>(
  source: readonly unknown[],
  { format, columns, isForExcel = false }: TableOptions<Row>,
): string {
  const writer = format === 'parquet' ? parquetWriterVersion() : isForExcel;
  const facts = [TABLE_VERSION, format, writer, columns.map(({ name }) => name), ...source];
  return `"${createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32)}"`;
}

/** Writes rows in a format. */
function writeTable<Row>(
  rows: AsyncIterable<readonly Row[]>,
  { format, columns, isForExcel = false }: TableOptions<Row>,
): AsyncIterable<Uint8Array> {
  switch (format) {
    case 'csv':
      return writeCsv(rows, columns, { isForExcel });
    case 'jsonl':
      return linesToBytes(toJsonLines(rows, columns));
    case 'parquet':
      return writeParquet(rows, columns);
  }
}

/** Rows as objects of their columns, null for a value that is absent. */
async function* toJsonLines<Row>(
  rows: AsyncIterable<readonly Row[]>,
  columns: readonly TableColumn<Row>[],
): AsyncGenerator<string[]> {
  const keys = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  for await (const batch of rows) {
    yield batch.map(
      (row) => `${columns.map(({ json }, index) => `${keys[index]}${json(row) ?? 'null'}`).join('')}}`,
    );
  }
}
