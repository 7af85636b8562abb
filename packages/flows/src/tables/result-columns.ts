import { type FieldKind, isJsonField, PUBLIC_RESULT_FIELDS, wireValue } from '@svc/jsonl-v23/internal';
import type { StoredResult } from '@svc/store';
import type { ColumnType, TableColumn } from '@svc/tabular/write';

/** The column of a field. */
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
  json: 'string',
  object: 'json',
  names: 'json',
  scores: 'json',
  failure: 'json',
};

/** The columns of a table of results, in their default order. */
export const RESULT_COLUMNS: readonly TableColumn<StoredResult>[] = PUBLIC_RESULT_FIELDS.map((field) => {
  const { name, wire, kind } = field;
  const text = ({ [name]: value }: StoredResult): string | null =>
    value === null ? null : JSON.stringify(wireValue(value));
  const json = isJsonField(field) ? (result: StoredResult) => result[name] as string | null : text;
  return { name: wire, type: COLUMN_TYPES[kind], json };
});
