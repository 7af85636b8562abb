import type { FieldKind } from '@svc/jsonl-v23/internal';

/** The type of the column of a field. */
export const SQL_TYPES: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  title: 'text',
  name: 'text',
  word: 'text',
  integer: 'int',
  count: 'bigint',
  number: 'float8',
  boolean: 'bool',
  hash: 'bytea',
  digest: 'text',
  uuid: 'uuid',
  time: 'timestamptz',
  id: 'text',
  string: 'text',
  long_string: 'text',
  json: 'text',
  object: 'text',
  names: 'text',
  scores: 'text',
  failure: 'text',
};
