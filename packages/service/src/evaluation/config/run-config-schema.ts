import type { ConfigSchema } from '../checkers/checker.ts';
import { CHECKER_DOCS } from '../checkers/checkers.ts';

/** A checker with its options: one schema for each `checker.type`, with an example as `x-example`. */
export const CHECKER_SCHEMAS: ReadonlyMap<string, ConfigSchema> = new Map(
  CHECKER_DOCS.map(({ name, passes, example, options }) => [
    name,
    {
      type: 'object',
      description: `passes when ${passes}`,
      'x-example': example,
      properties: { type: { type: 'string', const: name }, ...options },
      required: ['type'],
    },
  ]),
);

export const CHECKER_NAME_SCHEMA: ConfigSchema = {
  type: 'string',
  enum: [...CHECKER_SCHEMAS.keys()],
  description: 'a checker without options',
};

export const CHECKER_OPTIONS_SCHEMA: ConfigSchema = {
  description: 'a checker with options, which `type` selects',
  oneOf: [...CHECKER_SCHEMAS.values()],
  discriminator: { propertyName: 'type' },
};

export const CHECKER_SCHEMA: ConfigSchema = {
  description:
    'a checker as items have it, such as `numeric` or `{"type": "regex", "pattern": "^4"}`: for items without one, or with `checker_mode: override` for all',
  oneOf: [CHECKER_NAME_SCHEMA, CHECKER_OPTIONS_SCHEMA],
};

/** An object with these members alone. */
const closed = <const Properties extends object, const Required extends readonly string[]>(
  description: string,
  properties: Properties,
  ...required: Required
) => ({ type: 'object', description, properties, required, additionalProperties: false }) as const;

const integer = <const More extends { readonly default?: number }>(
  minimum: number,
  maximum: number,
  description: string,
  more?: More,
) => ({ type: 'integer', minimum, maximum, ...(more as More), description }) as const;

const amount = (maximum: number, description: string) =>
  ({ type: 'number', minimum: 0, maximum, description }) as const;

const baseUrl = {
  type: 'string',
  minLength: 8,
  maxLength: 2048,
  pattern: '^https?://',
  'x-rule': 'must begin with http:// or https://',
  description:
    'URL that `/chat/completions` (`anthropic`: `/v1/messages`) is appended to, without user-info, query and fragment',
} as const;
const model = { type: 'string', minLength: 1, maxLength: 256, description: 'name of the model' } as const;
const params = {
  type: 'object',
  default: {},
  description:
    'members of the request body besides model and messages, such as `temperature` and `max_tokens`',
} as const;
/** Names that end in `_ORIGINS` list where keys may be sent; `SVC_PROVIDER_ALLOWED_HOSTS` is a setting. */
const apiKeyEnv = {
  type: 'string',
  maxLength: 113,
  pattern: '^SVC_PROVIDER_(?!ALLOWED_HOSTS$)(?!(?:[A-Z0-9_]{0,100}_)?ORIGINS$)[A-Z0-9_]{1,100}$',
  'x-rule':
    'must be the name of an environment variable that holds a key: SVC_PROVIDER_<NAME>, not ending in _ORIGINS, and never the key itself',
  description: 'name of the environment variable of the workers that holds the key',
} as const;
const auth = {
  type: 'string',
  enum: ['bearer', 'api-key'],
  description: 'how the key is sent: `Authorization: Bearer` by default, or the header `api-key`',
} as const;
const pointer = {
  type: 'string',
  maxLength: 1024,
  pattern: '^(/([^~]|~[01])*)?$',
  'x-rule': 'must be a JSON Pointer such as /answer',
  description: 'JSON Pointer (RFC 6901) into the item',
} as const;

const ITEM_POINTER = {
  ...pointer,
  minLength: 2,
  pattern: '^/([^~]|~[01])*$',
  'x-rule': 'must be a JSON Pointer such as /meta/passage',
} as const;

const query = {
  type: 'object',
  maxProperties: 16,
  additionalProperties: { type: 'string', maxLength: 256 },
  description: 'query parameters of the URL, such as `api-version`; no secrets',
} as const;
const extraHeaders = {
  type: 'object',
  maxProperties: 16,
  additionalProperties: { type: 'string', maxLength: 1024 },
  description: 'headers whose names begin with `anthropic-`, `openai-` or `x-`; no secrets',
} as const;
const chatModel = {
  base_url: baseUrl,
  model,
  params,
  api_key_env: apiKeyEnv,
  auth,
  query,
  extra_headers: extraHeaders,
} as const;

/** The source of the outputs: one schema per `type`. */
export const PROVIDER_SCHEMAS = {
  openai_compatible: closed(
    'requests outputs from a model over the chat-completions protocol',
    { type: { type: 'string', const: 'openai_compatible' }, ...chatModel },
    'type',
    'base_url',
    'model',
  ),
  anthropic: closed(
    'requests outputs from a model over the Anthropic Messages API',
    {
      type: { type: 'string', const: 'anthropic' },
      base_url: baseUrl,
      model,
      params,
      api_key_env: apiKeyEnv,
      extra_headers: extraHeaders,
    },
    'type',
    'base_url',
    'model',
  ),
  item_field: closed(
    'uses outputs that the items contain',
    { type: { type: 'string', const: 'item_field' }, pointer },
    'type',
    'pointer',
  ),
  external: closed(
    'waits for results that clients send; no worker processes the run',
    {
      type: { type: 'string', const: 'external' },
      label: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: 'what makes the outputs, for people',
      },
    },
    'type',
  ),
  echo: closed(
    'returns the last message, to try a dataset or a deployment',
    { type: { type: 'string', const: 'echo' } },
    'type',
  ),
} as const satisfies Readonly<Record<string, ConfigSchema>>;

export const PRICE_SCHEMA = closed(
  'what the provider charges, for `cost`',
  {
    input_per_million: amount(1e9, 'for a million input tokens'),
    output_per_million: amount(1e9, 'for a million output tokens'),
    currency: {
      type: 'string',
      pattern: '^[A-Z]{3}$',
      'x-rule': 'must be a currency code of three capital letters such as USD',
      default: 'USD',
      description: 'ISO 4217 code',
    },
  },
  'input_per_million',
  'output_per_million',
);

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const MAX_COST_SCHEMA = closed(
  'limit of the cost of the run; requires `price`. No request starts that is expected to exceed it, and the run then ends as `stopped`',
  { amount: amount(1e12, 'in the currency of `price`') },
  'amount',
);

export const JUDGE_SCHEMA = closed(
  'the model that scores items with a `judge` checker, and items with criteria or a judge prompt',
  {
    type: {
      type: 'string',
      enum: ['openai_compatible', 'anthropic'],
      default: 'openai_compatible',
      description: 'the protocol of the model',
    },
    ...chatModel,
    threshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'the least score that passes if the judge does not say',
    },
    price: { ...PRICE_SCHEMA, description: 'what the provider of the judge charges, for `cost`' },
  },
  'base_url',
  'model',
);

export const PROVIDER_SCHEMA: ConfigSchema = {
  description: 'the source of the outputs, which `type` selects',
  oneOf: Object.values(PROVIDER_SCHEMAS),
  discriminator: { propertyName: 'type' },
};

const names = {
  type: 'array',
  minItems: 1,
  maxItems: 1_000,
  items: { type: 'string', maxLength: 65_535 },
} as const;

export const SELECT_SCHEMA = {
  type: 'object',
  description: 'which items to run; its members apply in this order',
  properties: {
    limit: integer(1, 2_147_483_647, 'the first items of the dataset'),
    sections: { ...names, description: 'items of the sections with these names' },
    types: { ...names, description: 'items of these types' },
    tags: { ...names, description: 'items with at least one of these tags' },
    item_ids: {
      type: 'array',
      minItems: 1,
      maxItems: 10_000,
      items: { type: ['string', 'integer'], maxLength: 65_535 },
      description: 'items with these ids',
    },
    sample: closed(
      'sample size; the seed makes the sample reproducible',
      {
        n: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
        seed: { type: ['integer', 'string'], maxLength: 256, default: 0 },
      },
      'n',
    ),
  },
  additionalProperties: false,
} as const satisfies ConfigSchema;

export const SCORER_SCHEMA = closed(
  'a score of each output: by a checker, by a judge, or as the items say',
  {
    name: {
      type: 'string',
      pattern: '^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$',
      'x-rule': 'must have 1 to 64 letters, digits, `_`, `.` and `-`, and not be `__proto__`',
      description: 'unique within the run',
    },
    checker: CHECKER_SCHEMA,
    judge: JUDGE_SCHEMA,
  },
  'name',
);

export const SCORERS_SCHEMA = {
  type: 'array',
  minItems: 1,
  maxItems: 8,
  items: SCORER_SCHEMA,
  description:
    'several scores of each output; the first is that of `score`. In place of `checker` and `judge`',
} as const satisfies ConfigSchema;

const members = {
  select: SELECT_SCHEMA,
  system_prompt: { type: 'string', description: 'replaces the system prompt of every item' },
  prompt_template: {
    type: 'string',
    minLength: 1,
    description:
      'makes the prompt of every item: text with `{prompt}`, `{choices}`, `{id}`, `{type}`, `{inputs.<name>}` and `{meta.<name>}`; `{{` and `}}` are braces',
  },
  checker: CHECKER_SCHEMA,
  checker_mode: {
    type: 'string',
    enum: ['default', 'override'],
    description: '`default`: `checker` applies to items without a checker; `override`: to all items',
  },
  scorers: SCORERS_SCHEMA,
  added_scorers: {
    ...SCORERS_SCHEMA,
    maxItems: 16,
    description: 'further scorers, as `POST /runs/{id}/rescore` adds them to a finished run',
  },
  reasoning: {
    type: 'string',
    enum: ['strip', 'score'],
    description: '`strip`: what follows the reasoning of an output is scored; `score`: all of it',
  },
  allow_unscored: {
    type: 'boolean',
    description: 'run even if no item can be scored',
  },
  cluster_by: {
    ...ITEM_POINTER,
    description:
      'JSON Pointer to the value that items share which depend on each other, such as `/meta/passage`: standard errors are clustered by it',
  },
  repetitions: integer(1, 100, 'how often each item is run', { default: 1 }),
  concurrency: integer(1, 256, 'how many items run at the same time', { default: 8 }),
  max_retries: integer(0, 20, 'how often a request is sent again after 429, 5xx or a broken connection', {
    default: 5,
  }),
  timeout_ms: integer(100, 3_600_000, 'how long one request may take, in milliseconds', { default: 120_000 }),
  max_consecutive_failures: integer(
    1,
    1_000_000,
    'this many items in a row without an answer end the run as `failed`',
    { default: 20 },
  ),
  requests_per_minute: integer(
    1,
    1_000_000,
    'requests to the models, evenly spaced; without it there is no limit',
  ),
  price: PRICE_SCHEMA,
  max_cost: MAX_COST_SCHEMA,
  reuse: closed(
    'takes outputs of an earlier run where that asked the same, instead of asking again',
    {
      run_id: {
        type: 'string',
        pattern: `^(latest|${UUID})$`,
        'x-rule': 'must be the id of a run, or "latest"',
        description:
          'the earlier run; `latest` is the newest run of the dataset that has ended and asked the same model at the same origin',
      },
    },
    'run_id',
  ),
} as const;

const SCORER_SHAPE = {
  ...SCORER_SCHEMA,
  properties: { ...SCORER_SCHEMA.properties, checker: { type: ['string', 'object'] } },
} as const satisfies ConfigSchema;

/** The configuration without the details of `provider`, which has one schema per type, and of `checker`. */
export const RUN_CONFIG_SHAPE = {
  type: 'object',
  properties: {
    provider: { type: 'object' },
    judge: JUDGE_SCHEMA,
    ...members,
    checker: { type: ['string', 'object'] },
    scorers: { ...members.scorers, items: SCORER_SHAPE },
    added_scorers: { ...members.added_scorers, items: SCORER_SHAPE },
  },
  required: ['provider'],
  additionalProperties: false,
} as const satisfies ConfigSchema;

export const RUN_CONFIG_SCHEMA: ConfigSchema = {
  ...RUN_CONFIG_SHAPE,
  description: 'what a run asks, how it scores, and its limits',
  properties: { provider: PROVIDER_SCHEMA, judge: JUDGE_SCHEMA, ...members },
};
