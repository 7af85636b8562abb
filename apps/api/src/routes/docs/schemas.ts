import { type Schema, shape } from '@svc/runtime';

/** Schemas of responses, for the OpenAPI document. */

const nullable = (type: string): Schema => ({ type: [type, 'null'] });
const count: Schema = { type: 'integer', minimum: 0 };
const time: Schema = { type: 'string', format: 'date-time' };
const uuid: Schema = { type: 'string', format: 'uuid' };
const sha256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** A page of a list. */
export function page(items: Schema): Schema {
  return shape({
    data: { type: 'array', items },
    meta: shape({
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      next_cursor: nullable('string'),
      total_items: count,
    }),
  });
}

export const SECTION: Schema = shape({
  id: uuid,
  name: { type: 'string' },
  order_index: count,
  item_count: count,
});

const summary = {
  id: uuid,
  name: { type: 'string' },
  description: nullable('string'),
  notes: nullable('string'),
  handle: { ...nullable('string'), description: 'short name that is unique without regard to case' },
  version: { type: 'integer', minimum: 1 },
  version_count: { type: 'integer', minimum: 1, description: 'versions that exist' },
  version_hash: sha256,
  schema: { type: 'object', description: 'the source of the dataset' },
  section_count: count,
  item_count: count,
  asset_count: count,
  sections: { type: 'array', items: SECTION, description: 'at most the first 100' },
  created_at: time,
  updated_at: time,
};

export const DATASET_SUMMARY: Schema = shape(summary);
export const LISTED_DATASET: Schema = shape({
  ...summary,
  last_run: {
    ...shape({ id: uuid, score: { type: 'number' }, pass_rate: { type: 'number' }, finished_at: time }),
    type: ['object', 'null'],
    description: 'the newest run that has ended and has a score, with its mean; null without one',
  },
});

/** A dataset that an upload found to be there, and the run that was added to it. */
export const FOUND_DATASET: Schema = shape(
  {
    ...summary,
    dataset_id: { ...uuid, description: 'with a run of another tool: the dataset that has its items' },
    run_id: { ...uuid, description: 'the run that was added to it' },
  },
  ['dataset_id', 'run_id'],
);
export const DATASET: Schema = shape({
  ...summary,
  schema: { type: 'object', description: 'the whole schema' },
});

/** How a version differs from the one before. */
export const CHANGE: Schema = shape({ added: count, changed: count, removed: count, moved: count });

/** A dataset after a change. */
export const CHANGED_DATASET: Schema = shape({ ...summary, change: CHANGE });

export const ITEM: Schema = shape(
  {
    section: { type: 'string' },
    order_index: count,
    item_hash: sha256,
    item: {
      type: ['object', 'null'],
      description: 'the whole item, with every digit as stored; null if it is too large to read',
    },
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      description: 'set if the item is too large to read, or one of its files is missing',
    },
    truncated: {
      type: 'boolean',
      description: 'true if the item would be too large with its files, and contains links instead',
    },
  },
  ['error', 'truncated'],
);

const POSITION: Schema = {
  type: ['object', 'null'],
  properties: { section: { type: 'string' }, order_index: count },
};

/** An item that is added, removed or moved. */
export const PLACED_DIFFERENCE: Schema = shape({
  change: { type: 'string', enum: ['added', 'removed', 'moved'] },
  item_hash: sha256,
  from: POSITION,
  to: POSITION,
});

const changedValue: Schema = {
  description:
    'the value, with every digit as stored; absent where the item has no such member. Of one over 2 KiB a string with its beginning',
};

/** An item with other content. */
export const CHANGED_ITEM: Schema = shape({
  change: { type: 'string', enum: ['changed'] },
  section: { type: 'string' },
  order_index: { ...count, description: 'in the first dataset' },
  other_order_index: { ...count, description: 'in the other dataset' },
  item_id: { type: ['string', 'integer', 'null'], description: 'its `id` in the first dataset' },
  fields: {
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
});

export const DIFF: Schema = shape({
  ...(page({ oneOf: [PLACED_DIFFERENCE, CHANGED_ITEM] })['properties'] as Record<string, Schema>),
  counts: shape({ added: count, removed: count, changed: count, moved: count, unchanged: count }),
});

export const PROBLEM: Schema = shape(
  {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: shape(
        {
          code: {
            type: 'string',
            description:
              'code of the error in this line, row or file; more specific than the code of the response',
          },
          message: { type: 'string' },
          path: { type: 'string' },
          file: { type: 'string' },
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
      items: { type: 'string' },
      description: 'valid names, such as the subsets of a dataset; the first 1,000',
    },
  },
  ['errors', 'errors_total', 'available'],
);

/** Query parameters of every list. */
export const PAGE_QUERY: Readonly<Record<string, Schema>> = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 50, description: 'entries of one page' },
  cursor: {
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description: '`meta.next_cursor` of the previous page',
  },
};

/** The same of a list that can be read from any place. */
export const PLACED_PAGE_QUERY: Readonly<Record<string, Schema>> = {
  ...PAGE_QUERY,
  offset: {
    type: 'integer',
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'entries to leave out at the beginning, to read a list from any place; without a cursor',
  },
};
