import { createHash } from 'node:crypto';
import { type FieldKind, isJsonField, PUBLIC_RESULT_FIELDS, wireValue } from '@svc/jsonl-v23/runs';
import { linesToBytes } from '@svc/pkg-format';
import {
  type ColumnType,
  parquetWriterVersion,
  type TableColumn,
  writeCsv,
  writeParquet,
} from '@svc/tabular/write';
import {
  type AuditEntry,
  type LabelConditions,
  type LabelledResult,
  type LabelOfResult,
  type OpenDataset,
  type OpenRun,
  type StoredLabel,
  sectionNotFound,
} from '../../store/index.ts';
import { type ItemRow, itemRows } from './item-columns.ts';

const COLUMN_TYPES: Readonly<Record<FieldKind, ColumnType>> = {
  text: 'string',
  title: 'string',
  name: 'string',
  word: 'string',
  integer: 'int64',
  count: 'int64',
  number: 'double',
  boolean: 'bool',
  hash: 'string',
  digest: 'string',
  uuid: 'string',
  time: 'string',
  id: 'string',
  string: 'string',
  long_string: 'string',
  json: 'string',
  object: 'json',
  names: 'json',
  scores: 'json',
  failure: 'json',
};

/** The columns of a table of results, in their default order. */
export const RESULT_COLUMNS: readonly TableColumn<LabelledResult>[] = [
  ...PUBLIC_RESULT_FIELDS.map(fieldColumn),
  ...labelColumns(({ labels }: LabelledResult) => {
    return labels.find(({ verdict }) => verdict !== null) ?? labels[0];
  }),
];

/** The columns of a label: in a table of results, of the newest verdict, else of the newest label. */
export function labelColumns<Row>(
  labelOf: (row: Row) => StoredLabel | undefined,
): readonly TableColumn<Row>[] {
  return [
    valueColumn('label', 'string', (row) => labelOf(row)?.verdict),
    valueColumn('label_note', 'string', (row) => labelOf(row)?.note),
    valueColumn('label_types', 'json', (row) => labelOf(row)?.types),
    valueColumn('label_by', 'string', (row) => labelOf(row)?.by),
  ];
}

/** A column of values that JSON holds; null and undefined are absent. */
export function valueColumn<Row>(
  name: string,
  type: ColumnType,
  value: (row: Row) => unknown,
): TableColumn<Row> {
  return {
    ...{ name, type },
    json: (row) => {
      const found = value(row) ?? null;
      return found === null ? null : JSON.stringify(found);
    },
  };
}

function fieldColumn(field: (typeof PUBLIC_RESULT_FIELDS)[number]): TableColumn<LabelledResult> {
  const { name, wire, kind } = field;
  const type = COLUMN_TYPES[kind];
  if (isJsonField(field)) return { name: wire, type, json: (result) => result[name] as string | null };
  return valueColumn(wire, type, ({ [name]: value }) => wireValue(value));
}

/** A change to the bytes of tables needs another number, so that entity tags change too. */
const TABLE_VERSION = 1;

export type TableFormat = 'csv' | 'jsonl' | 'parquet';

export interface TableOptions<Row> {
  readonly format: TableFormat;
  readonly columns: readonly TableColumn<Row>[];
  readonly isForExcel?: boolean;
}

/** A package, a table or a file of another tool that can be written. */
export interface FileExport {
  /** `<name>.items.csv`, safe on every file system. */
  readonly fileName: string;
  readonly mediaType: string;
  /** Identifies the bytes; includes the quotes. Null if two of them may differ, or while rows are still to come. */
  readonly etag: string | null;
  /** The bytes, as fast as they are taken. */
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
function tableExport<Row>(
  table: {
    readonly baseName: string;
    readonly source: readonly unknown[] | null;
    readonly read: () => AsyncIterable<readonly Row[]>;
  },
  options: TableOptions<Row>,
): FileExport {
  const { baseName, source, read } = table;
  return {
    fileName: `${baseName}.${options.format}`,
    mediaType: MEDIA_TYPES[options.format],
    etag: source === null ? null : tableEtag(source, options),
    bytes: () => writeTable(read(), options),
  };
}

function tableEtag<Row>(
  source: readonly unknown[],
  { format, columns, isForExcel = false }: TableOptions<Row>,
): string {
  const writer = format === 'parquet' ? parquetWriterVersion() : isForExcel;
  const facts = [TABLE_VERSION, format, writer, columns.map(({ name }) => name), ...source];
  return `"${createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32)}"`;
}

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

export interface ItemsTableOptions extends TableOptions<ItemRow> {
  readonly section?: string | undefined;
}

/**
 * The items of an open dataset as a table: stored texts → cells → CSV or Parquet. Holds one batch and what the format
 * needs. The caller closes the dataset when the bytes have been taken, or are not needed.
 *
 * @throws StoreError `section_not_found`
 */
export function itemsTable(open: OpenDataset, options: ItemsTableOptions): FileExport {
  const { section } = options;
  const { id, name, versionHash } = open.dataset;
  const sections = open.sections.filter((each) => section === undefined || each.name === section);
  if (section !== undefined && sections.length === 0) throw sectionNotFound(section);
  const table = {
    baseName: `${fileBaseName(name, 'dataset')}.items`,
    source: [id, versionHash, section ?? null],
    read: () => itemRows(open.items(sections)),
  };
  return tableExport(table, options);
}

/**
 * The results of an open run in item order as a table: stored texts → cells → JSON Lines, CSV or Parquet. Holds one
 * batch and what the format needs. The caller closes the run when the bytes have been taken, or are not needed.
 */
export function resultsTable(open: OpenRun, options: TableOptions<LabelledResult>): FileExport {
  const { id, name, finishedAt, counts, retries, resultsVersion } = open.run;
  const source = [id, finishedAt, counts, retries, resultsVersion, open.labelsState];
  const table = {
    baseName: `${fileBaseName(name ?? '', `run-${id}`)}.results`,
    // A run that continues has other results with the next request.
    source: finishedAt === null ? null : source,
    read: () => open.results(),
  };
  return tableExport(table, options);
}

export const LABEL_TABLE_COLUMNS: readonly TableColumn<LabelOfResult>[] = [
  valueColumn('section', 'string', ({ section }) => section),
  valueColumn('order_index', 'int64', ({ orderIndex }) => orderIndex),
  { name: 'item_id', type: 'string', json: ({ itemId }) => itemId },
  valueColumn('repetition', 'int64', ({ repetition }) => repetition),
  valueColumn('item_hash', 'string', ({ itemHash }) => wireValue(itemHash)),
  ...labelColumns((label: LabelOfResult) => label),
  valueColumn('created_at', 'string', ({ createdAt }) => createdAt),
  valueColumn('updated_at', 'string', ({ updatedAt }) => updatedAt),
  valueColumn('imported', 'bool', ({ imported }) => imported),
];

export interface LabelsTableOptions extends TableOptions<LabelOfResult> {
  readonly conditions: LabelConditions;
}

/** The labels of an open run's results in item order and by person, as a table. The rest is as for `resultsTable`. */
export function labelsTable(open: OpenRun, { conditions, ...options }: LabelsTableOptions): FileExport {
  const { id, name, resultsVersion } = open.run;
  const table = {
    baseName: `${fileBaseName(name ?? '', `run-${id}`)}.labels`,
    source: [id, resultsVersion, open.labelsState, conditions],
    read: () => open.labels(conditions),
  };
  return tableExport(table, options);
}

export const AUDIT_COLUMNS: readonly TableColumn<AuditEntry>[] = [
  valueColumn('id', 'string', ({ id }) => id),
  valueColumn('at', 'string', ({ createdAt }) => createdAt),
  valueColumn('actor', 'string', ({ actor }) => actor),
  valueColumn('role', 'string', ({ role }) => role),
  valueColumn('action', 'string', ({ action }) => action),
  valueColumn('kind', 'string', ({ kind }) => kind),
  valueColumn('object_id', 'string', ({ objectId }) => objectId),
  valueColumn('name', 'string', ({ name }) => name),
  valueColumn('handle', 'string', ({ handle }) => handle),
  valueColumn('version', 'int64', ({ version }) => version),
  { name: 'details', type: 'json', json: ({ details }) => details },
  valueColumn('request_id', 'string', ({ requestId }) => requestId),
];

/** Rows of the audit as a table. @param read gives them in batches, when the bytes are taken */
export function auditTable(
  read: () => AsyncIterable<readonly AuditEntry[]>,
  options: TableOptions<AuditEntry>,
): FileExport {
  return tableExport({ baseName: 'audit', source: null, read }, options);
}

/** Characters that some file system refuses, or that a shell or a header would misread. */
const UNSAFE = /[\p{Cc}\p{Cs}<>:"/\\|?*]+/gu;
const MAX_LENGTH = 120;

/** The name of a dataset or run as a file name without extension, safe on every file system. */
export function fileBaseName(name: string, fallback: string): string {
  const safe = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '');
  return [...safe].slice(0, MAX_LENGTH).join('') || fallback;
}
