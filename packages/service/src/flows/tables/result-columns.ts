import { type FieldKind, isJsonField, PUBLIC_RESULT_FIELDS, wireValue } from '@svc/jsonl-v23/internal';
import type { LabelledResult, StoredLabel } from '@svc/store';
import type { ColumnType, TableColumn } from '@svc/tabular/write';

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
