import { DATASET_NAME } from '@svc/jsonl-v23';
import { type Field, type FieldKind, isJsonField, wireValue } from '@svc/jsonl-v23/runs';
import { type JsonBody, JsonText, type Schema, shape } from '@svc/service';
import type {
  DatasetSummary,
  DiffEntry,
  ItemPosition,
  LastRun,
  ListedItem,
  SectionSummary,
} from '@svc/service/store';

/** A name as the API has it: `order_index` for `orderIndex`. */
type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : '';

export interface ApiMember<Value> {
  readonly schema: Schema;
  toBody(value: Value): JsonBody;
}

export interface ApiRecord<T> extends ApiMember<T> {
  readonly members: Readonly<Record<string, Schema>>;
  toBody(value: T): Record<string, JsonBody>;
}

type Members<T> = {
  readonly [Name in keyof T & string as WireName<Name>]?: Schema | ApiMember<T[Name]>;
};

/** States a record once: the members of its schema are those of `T`, whose names the API spells in snake case. */
export function record<T extends object>(members: Members<T>): ApiRecord<T> {
  const stated = Object.entries<Schema | ApiMember<unknown>>(members as never).map(([wire, member]) => ({
    wire,
    name: codeName(wire) as keyof T,
    ...(isMember(member) ? member : { schema: member, toBody: plainBody }),
  }));
  const schemas = Object.fromEntries(stated.map(({ wire, schema }) => [wire, schema]));
  return {
    members: schemas,
    schema: shape(schemas),
    toBody: (value) =>
      Object.fromEntries(stated.map(({ wire, name, toBody }) => [wire, toBody(value[name])])),
  };
}

export const codeName = (wire: string): string =>
  wire.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function isMember(member: Schema | ApiMember<unknown>): member is ApiMember<unknown> {
  return typeof (member as Partial<ApiMember<unknown>>).toBody === 'function';
}

const plainBody = (value: unknown): JsonBody =>
  value instanceof Uint8Array ? (wireValue(value) as string) : (value as JsonBody);

/** A member that is stored as JSON text, which is sent as it is. */
export function storedJson(schema: Schema): ApiMember<string | null> {
  return { schema, toBody: (text) => (text === null ? null : new JsonText(text)) };
}

export function listOf<T>({ toBody }: ApiRecord<T>, schema: Schema): ApiMember<readonly T[]> {
  return { schema, toBody: (list) => list.map(toBody) };
}

export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const COUNT_OR_NULL: Schema = { type: ['integer', 'null'], minimum: 0 };
export const POSITIVE: Schema = { type: 'integer', minimum: 1 };
export const NUMBER_OR_NULL: Schema = { type: ['number', 'null'] };
export const TEXT: Schema = { type: 'string' };
export const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
export const TIME: Schema = { type: 'string', format: 'date-time' };
export const TIME_OR_NULL: Schema = { type: ['string', 'null'], format: 'date-time' };
export const UUID: Schema = { type: 'string', format: 'uuid' };
export const SHA256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
export const STATED_HASH: Schema = { ...SHA256, 'x-rule': 'must be 64 hexadecimal digits in lower case' };
export const ITEM_ID: Schema = { type: ['string', 'integer', 'null'] };

const SCHEMAS: Readonly<Record<FieldKind, Schema>> = {
  text: TEXT,
  title: TEXT,
  name: TEXT,
  word: TEXT,
  integer: { type: 'integer' },
  count: COUNT,
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  hash: SHA256,
  digest: SHA256,
  uuid: UUID,
  time: TIME,
  id: { type: ['string', 'integer'] },
  string: TEXT,
  long_string: TEXT,
  json: {},
  object: { type: 'object' },
  names: { type: 'array', items: { type: 'string' } },
  scores: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: {
        score: { type: ['number', 'null'], minimum: 0, maximum: 1 },
        passed: { type: ['boolean', 'null'] },
        explanation: { type: ['string', 'null'] },
        scored_by: { type: ['string', 'null'], enum: ['checker', 'judge', 'client', 'label', null] },
        error: {
          type: 'object',
          properties: { code: { type: 'string' }, message: { type: 'string' } },
          description: 'why there is no score',
        },
      },
      required: ['score', 'passed', 'explanation', 'scored_by'],
    },
  },
  failure: {
    type: 'object',
    properties: {
      code: { type: 'string' },
      message: { type: 'string' },
      provider_message: {
        type: 'string',
        maxLength: 500,
        description: 'message of the provider, without secrets; absent if there is none',
      },
    },
  },
};

export function fieldSchema(field: Field): Schema {
  const { type, ...others } = SCHEMAS[field.kind];
  const { isRequired = false, values, minimum, maximum, description } = field;
  return {
    ...(type === undefined ? {} : { type: isRequired ? type : [type, 'null'].flat() }),
    ...others,
    ...(values === undefined ? {} : { enum: values }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(description === undefined ? {} : { description }),
  };
}

export function fieldBody(field: Field, value: Parameters<typeof wireValue>[0]): JsonBody {
  if (isJsonField(field)) return value === null ? null : new JsonText(value as string);
  return wireValue(value) as JsonBody;
}

export function pageMembers(items: Schema): Readonly<Record<string, Schema>> {
  return {
    data: { type: 'array', items },
    meta: shape({
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      next_cursor: TEXT_OR_NULL,
      total_items: COUNT,
    }),
  };
}

export const page = (items: Schema): Schema => shape(pageMembers(items));

export const SECTION = record<SectionSummary>({
  id: UUID,
  name: TEXT,
  order_index: COUNT,
  item_count: COUNT,
});

export const SUMMARY = record<DatasetSummary>({
  id: UUID,
  name: TEXT,
  description: TEXT_OR_NULL,
  notes: TEXT_OR_NULL,
  handle: { ...TEXT_OR_NULL, description: 'short name that is unique without regard to case' },
  version: POSITIVE,
  version_count: { ...POSITIVE, description: 'versions that exist' },
  version_hash: SHA256,
  schema: storedJson({ type: 'object', description: 'the source of the version' }),
  section_count: COUNT,
  item_count: COUNT,
  asset_count: COUNT,
  sections: listOf(SECTION, {
    type: 'array',
    items: SECTION.schema,
    description: 'at most the first 100',
  }),
  created_at: TIME,
  updated_at: TIME,
});

export const LAST_RUN = record<LastRun>({
  id: UUID,
  score: { type: 'number' },
  pass_rate: { type: ['number', 'null'] },
  finished_at: TIME,
});

export const SKIPPED_FILES: Readonly<Record<string, Schema>> = {
  skipped_files: {
    type: 'array',
    items: shape({ name: TEXT, reason: TEXT }),
    description: 'the first 100 files of archives that are no tables; absent if there are none',
  },
  skipped_files_total: { ...COUNT, description: 'set if there are more' },
};

export const IMPORT_NOTES: Readonly<Record<string, Schema>> = {
  warnings: {
    type: 'array',
    items: TEXT,
    description: 'what is probably a mistake, such as items without a prompt; absent if nothing is',
  },
  unused_columns: {
    type: 'array',
    items: TEXT,
    description: 'the first 100 columns that no key of the mapping uses; absent if there are none',
  },
  unused_columns_total: { ...COUNT, description: 'set if there are more' },
  ...SKIPPED_FILES,
};
export const NOTE_NAMES: readonly string[] = Object.keys(IMPORT_NOTES);

export const DATASET_SUMMARY: Schema = shape({ ...SUMMARY.members, ...IMPORT_NOTES }, NOTE_NAMES);
export const LISTED_DATASET: Schema = shape({
  ...SUMMARY.members,
  last_run: {
    ...LAST_RUN.schema,
    type: ['object', 'null'],
    description: 'the newest run that has ended with a score; null without one',
  },
});

const FOUND_RUNS: Schema = {
  type: 'array',
  description: 'of a file with several runs: each with its dataset',
  items: shape({ dataset_id: UUID, run_id: { ...UUID, type: ['string', 'null'] } }),
};

export const FOUND_DATASET: Schema = shape(
  {
    ...SUMMARY.members,
    ...IMPORT_NOTES,
    dataset_id: { ...UUID, description: 'with a run of another tool: the dataset that has its items' },
    run_id: { ...UUID, description: 'the run that was added to it' },
    runs: FOUND_RUNS,
  },
  [...NOTE_NAMES, 'dataset_id', 'run_id', 'runs'],
);

export const UPLOADED_DATASET: Schema = shape({ ...SUMMARY.members, ...IMPORT_NOTES, runs: FOUND_RUNS }, [
  ...NOTE_NAMES,
  'runs',
]);
export const DATASET: Schema = shape({
  ...SUMMARY.members,
  schema: { type: 'object', description: 'the whole schema' },
});

export const CHANGE: Schema = shape({ added: COUNT, changed: COUNT, removed: COUNT });

export const CHANGED_DATASET: Schema = shape(
  {
    ...SUMMARY.members,
    change: CHANGE,
    run_id: { ...UUID, description: 'the run of a package, which belongs to the version' },
    ...IMPORT_NOTES,
  },
  ['run_id', ...NOTE_NAMES],
);

export const PLACED_ITEM = record<PlacedItem>({
  section: TEXT,
  order_index: COUNT,
  item_hash: SHA256,
});
type PlacedItem = Pick<ListedItem, 'section' | 'orderIndex' | 'itemHash'>;

export const ITEM: Schema = shape(
  {
    ...PLACED_ITEM.members,
    item: {
      type: ['object', 'null'],
      description: 'the whole item, with every digit as stored; null if it is too large to read',
    },
    error: {
      type: 'object',
      properties: { code: TEXT, message: TEXT },
      description: 'set if the item is too large to read, or one of its files is missing',
    },
    truncated: {
      type: 'boolean',
      description: 'true if the item would be too large with its files, and contains links instead',
    },
  },
  ['error', 'truncated'],
);

const POSITION: ApiMember<ItemPosition | null> = {
  schema: {
    type: ['object', 'null'],
    properties: { section: TEXT, order_index: COUNT },
  },
  toBody: (at) => (at === null ? null : { section: at.section, order_index: at.orderIndex }),
};

type ChangedItem = Extract<DiffEntry, { readonly change: 'changed' }>;
type PlacedDifference = Exclude<DiffEntry, ChangedItem>;

export const PLACED_DIFFERENCE: ApiRecord<PlacedDifference> = record({
  change: { type: 'string', enum: ['added', 'removed'] },
  item_hash: SHA256,
  from: POSITION,
  to: POSITION,
});

const changedValue: Schema = {
  description:
    'the value, with every digit as stored; absent where the item has no such member. Of one over 2 KiB a string with its beginning',
};

const CHANGED_FIELDS: ApiMember<ChangedItem['fields']> = {
  schema: {
    type: 'array',
    items: shape(
      {
        pointer: { type: 'string', description: 'JSON Pointer of the member; empty for the whole item' },
        from: changedValue,
        to: changedValue,
        truncated: { type: 'boolean', description: 'true if a value is shortened' },
      },
      ['from', 'to', 'truncated'],
    ),
    description: 'the members that differ, at most 50 of each array or object',
  },
  toBody: (fields) =>
    fields.map(({ pointer, from, to, isTruncated }) => ({
      pointer,
      ...(from === null ? {} : { from: new JsonText(from) }),
      ...(to === null ? {} : { to: new JsonText(to) }),
      ...(isTruncated ? { truncated: true } : {}),
    })),
};

export const CHANGED_ITEM: ApiRecord<ChangedItem> = record({
  change: { type: 'string', enum: ['changed'] },
  section: TEXT,
  order_index: { ...COUNT, description: 'in the first dataset' },
  other_order_index: { ...COUNT, description: 'in the other dataset' },
  item_id: storedJson({ ...ITEM_ID, description: 'its `id` in the first dataset' }),
  fields: CHANGED_FIELDS,
});

export const DIFF: Schema = shape({
  ...pageMembers({ oneOf: [PLACED_DIFFERENCE.schema, CHANGED_ITEM.schema] }),
  counts: shape({ added: COUNT, removed: COUNT, changed: COUNT, unchanged: COUNT }),
  sections: {
    type: 'array',
    items: shape({
      name: TEXT,
      order_changed: {
        type: 'boolean',
        description: 'whether the items that both have are in another order',
      },
    }),
    description: 'the sections that both have and that differ, at most 1,000',
  },
});

export const PROBLEM: Schema = shape(
  {
    type: { type: 'string', format: 'uri' },
    title: TEXT,
    status: { type: 'integer' },
    detail: TEXT,
    instance: TEXT,
    code: TEXT,
    request_id: TEXT,
    errors: {
      type: 'array',
      items: shape(
        {
          code: {
            type: 'string',
            description:
              'code of the error in this line, row or file; more specific than the code of the response',
          },
          message: TEXT,
          path: TEXT,
          file: TEXT,
          line: { type: 'integer' },
          column: { type: 'integer' },
          row: { type: 'integer' },
        },
        ['code', 'path', 'file', 'line', 'column', 'row'],
      ),
    },
    errors_total: { type: 'integer' },
    available: {
      type: 'array',
      items: TEXT,
      description: 'valid names, such as the subsets of a dataset; the first 1,000',
    },
    reason: {
      type: 'string',
      description:
        'of 503: what makes the service unavailable, as `/readyz` names it: `not_migrated`, `unreachable`, `refused`, `tls`, `full`, `draining`; absent where it is only busy',
    },
  },
  ['errors', 'errors_total', 'available', 'reason'],
);

export const PAGE_QUERY: Readonly<Record<string, Schema>> = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 50, description: 'entries of one page' },
  cursor: {
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description: '`meta.next_cursor` of the previous page',
  },
};

export const PLACED_PAGE_QUERY: Readonly<Record<string, Schema>> = {
  ...PAGE_QUERY,
  offset: {
    type: 'integer',
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'number of entries to skip; not with a cursor',
  },
};

export const NAME: Schema = {
  type: 'string',
  ...DATASET_NAME,
  'x-rule': 'must not be blank, and must have no control characters',
  format: 'storable-text',
};

/** A handle; null for none. The store checks the rest of its rules. */
export const HANDLE: Schema = {
  type: ['string', 'null'],
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$',
  'x-rule': 'must have 1 to 96 letters, digits, ".", "_" or "-", and begin with a letter or digit',
  description: 'short name that is unique without regard to case, and may be used wherever an id is',
};

export const OPTIONAL_TEXT: Schema = {
  type: ['string', 'null'],
  maxLength: 65_536,
  pattern: '^[^\\u0000]*$',
  'x-rule': 'must hold no NUL',
  format: 'storable-text',
};
