import { type FieldKind, isJsonField, PUBLIC_RESULT_FIELDS, wireValue } from '@svc/jsonl-v23/internal';
import type { LabelledResult, StoredLabel } from '@svc/store';
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
  const column = (
    name: string,
    type: ColumnType,
    value: (label: StoredLabel) => unknown,
  ): TableColumn<Row> => ({
    ...{ name, type },
    json: (row) => {
      const label = labelOf(row);
      const found = label === undefined ? null : value(label);
      return found === null ? null : JSON.stringify(found);
    },
  });
  return [
    column('label', 'string', ({ verdict }) => verdict),
    column('label_note', 'string', ({ note }) => note),
    column('label_types', 'json', ({ types }) => types),
    column('label_by', 'string', ({ by }) => by),
  ];
}

function fieldColumn(field: (typeof PUBLIC_RESULT_FIELDS)[number]): TableColumn<LabelledResult> {
  const { name, wire, kind } = field;
  const text = ({ [name]: value }: LabelledResult): string | null =>
    value === null ? null : JSON.stringify(wireValue(value));
  const json = isJsonField(field) ? (result: LabelledResult) => result[name] as string | null : text;
  return { name: wire, type: COLUMN_TYPES[kind], json };
}
