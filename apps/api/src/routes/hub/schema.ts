import { MAPPING_SCHEMA } from '@svc/jsonl-v23/internal';
import { type Schema, shape } from '@svc/service';
import { COUNT, COUNT_OR_NULL, TEXT } from '../docs/scalars.ts';
import { CHANGE, IMPORT_NOTES, NOTE_NAMES } from '../docs/schemas.ts';

const OPTIONAL_STRING: Schema = { type: ['string', 'null'], minLength: 1, maxLength: 1024 };
const PATH: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  description: '`owner/name`, a legacy name, or the address of a dataset’s page',
};

/** A preview of any table: its first rows. */
export const PREVIEW_ROWS: Readonly<Record<string, Schema>> = {
  samples: { type: 'array', items: { type: 'object' } },
  truncated_cells: {
    type: 'array',
    items: shape({ row: { type: 'integer' }, column: TEXT, bytes: { type: 'integer' } }),
  },
  suggested_mapping: { type: ['object', 'null'] },
  suggested_mapping_reasons: {
    type: ['object', 'null'],
    additionalProperties: TEXT,
    description: 'key of the suggested mapping → why it was chosen',
  },
  items: {
    type: 'array',
    items: { type: 'object' },
    description: 'with a mapping: `{row, item}`, or `{row, error}` for an invalid row',
  },
};

/** The part of a hub dataset that a request names. */
export const SOURCE: Readonly<Record<string, Schema>> = {
  path: PATH,
  split: { ...OPTIONAL_STRING, description: 'a split or slices of splits, such as `train[:100]`' },
  revision: { ...OPTIONAL_STRING, description: 'branch, tag or commit' },
  subset: OPTIONAL_STRING,
  token: {
    ...OPTIONAL_STRING,
    maxLength: 512,
    pattern: '^[\\x21-\\x7e]*$',
    'x-rule': 'must be visible ASCII characters',
    description:
      'hub token for this request only; an asynchronous import stores it, encrypted, until it finishes',
  },
};

/** The same of an import, which may take all subsets. */
export const IMPORTED: Readonly<Record<string, Schema>> = {
  ...SOURCE,
  subsets: {
    type: ['string', 'null'],
    enum: ['sections', 'tags', null],
    description:
      'imports all subsets, each as a section, or in one section with its name as a tag; not with `subset`',
  },
};

/** Which column becomes which part of an item. */
export const MAPPING: Schema = MAPPING_SCHEMA;

export const PREVIEW: Schema = shape(
  {
    features: { type: 'array', items: shape({ name: TEXT, dtype: TEXT }) },
    num_rows: COUNT_OR_NULL,
    info: { type: 'object' },
    subset: TEXT,
    split: TEXT,
    resolved_revision: TEXT,
    splits: {
      type: 'array',
      items: shape({ subset: TEXT, split: TEXT, num_rows: COUNT_OR_NULL }),
    },
    ...PREVIEW_ROWS,
  },
  ['items'],
);

/** The result of a dry run. */
export const DRY_RUN: Schema = shape(
  {
    item_count: COUNT,
    version_hash: { type: ['string', 'null'], description: 'null if a row is invalid' },
    change: CHANGE,
    errors: {
      type: 'array',
      items: shape(
        {
          message: TEXT,
          code: TEXT,
          file: TEXT,
          line: { type: 'integer' },
          column: { type: 'integer' },
          row: { type: 'integer' },
          path: TEXT,
        },
        ['file', 'line', 'column', 'row', 'path'],
      ),
      description: 'the first 100',
    },
    errors_total: COUNT,
    skipped: {
      ...shape({
        count: { type: 'integer' },
        rows: {
          type: 'array',
          items: shape(
            {
              row: { type: 'integer' },
              message: TEXT,
              file: TEXT,
              line: { type: 'integer' },
            },
            ['row', 'file', 'line'],
          ),
        },
      }),
      description: 'set if the mapping skips invalid rows',
    },
    ...IMPORT_NOTES,
  },
  ['change', 'skipped', ...NOTE_NAMES],
);

/** Error codes of every request to the hub. */
export const HUB_ERRORS: readonly string[] = [
  'invalid_split',
  'hub_unsupported_dataset',
  'hub_gated',
  'hub_dataset_not_found',
  'hub_revision_not_found',
  'hub_split_not_found',
  'hub_subset_not_found',
  'hub_unavailable',
  'hub_bad_response',
  'hub_rate_limited',
  'hub_timeout',
];
