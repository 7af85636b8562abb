import { type Schema, shape } from '@svc/runtime';

const OPTIONAL_STRING: Schema = { type: ['string', 'null'], minLength: 1, maxLength: 1024 };
const OPTIONAL_COLUMNS: Schema = {
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1 },
  maxItems: 1000,
  uniqueItems: true,
};
const META_COLUMNS: Schema = {
  description: 'key in `meta` → column; an array of columns means keys of the same names',
  anyOf: [
    { type: 'object', additionalProperties: { type: 'string', minLength: 1 }, maxProperties: 1000 },
    OPTIONAL_COLUMNS,
  ],
};
const PATH: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description: '`owner/name`, or a legacy name',
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
    description: 'hub token for this request only; stored, encrypted, until an asynchronous import finishes',
  },
};

export const MAPPING: Schema = {
  type: 'object',
  properties: {
    prompt_column: { type: 'string', minLength: 1 },
    answer_column: OPTIONAL_STRING,
    default_type: OPTIONAL_STRING,
    meta_columns: META_COLUMNS,
    criteria_columns: OPTIONAL_COLUMNS,
    choices_column: OPTIONAL_STRING,
    assets_column: OPTIONAL_STRING,
    system_prompt_column: OPTIONAL_STRING,
    id_column: OPTIONAL_STRING,
  },
  required: ['prompt_column'],
  additionalProperties: false,
};

const COUNT_OR_NULL: Schema = { type: ['integer', 'null'], minimum: 0 };

export const PREVIEW: Schema = shape({
  features: { type: 'array', items: shape({ name: { type: 'string' }, dtype: { type: 'string' } }) },
  samples: { type: 'array', items: { type: 'object' } },
  num_rows: COUNT_OR_NULL,
  info: { type: 'object' },
  subset: { type: 'string' },
  split: { type: 'string' },
  resolved_revision: { type: 'string' },
  splits: {
    type: 'array',
    items: shape({ subset: { type: 'string' }, split: { type: 'string' }, num_rows: COUNT_OR_NULL }),
  },
  suggested_mapping: { type: ['object', 'null'] },
  truncated_cells: {
    type: 'array',
    items: shape({ row: { type: 'integer' }, column: { type: 'string' }, bytes: { type: 'integer' } }),
  },
});

/** Error codes of every request to the hub. */
export const HUB_ERRORS: readonly string[] = [
  'invalid_json',
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
  'body_too_large',
  'unsupported_media_type',
];
