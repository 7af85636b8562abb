/** A JSON Schema for OpenAPI 3.1. */
export type RunConfigSchema = Readonly<Record<string, unknown>>;

const baseUrl = {
  type: 'string',
  minLength: 8,
  maxLength: 2048,
  pattern: '^https?://',
  description: 'URL that `/chat/completions` is appended to, without user-info, query and fragment',
};
const model = { type: 'string', minLength: 1, maxLength: 256, description: 'name of the model' };
const params = {
  type: 'object',
  description:
    'members of the request body besides model and messages, such as `temperature` and `max_tokens`',
};
/** Names that end in `_ORIGINS` list where keys may be sent; `SVC_PROVIDER_ALLOWED_HOSTS` is a setting. */
const apiKeyEnv = {
  type: 'string',
  maxLength: 113,
  pattern: '^SVC_PROVIDER_(?!ALLOWED_HOSTS$)(?!(?:[A-Z0-9_]{0,100}_)?ORIGINS$)[A-Z0-9_]{1,100}$',
  description: 'name of the environment variable of the workers that holds the key',
};

/** The source of the outputs: one schema per `type`. */
export const PROVIDER_SCHEMAS: Readonly<
  Record<'openai_compatible' | 'item_field' | 'echo', RunConfigSchema>
> = {
  openai_compatible: {
    type: 'object',
    title: 'openai_compatible',
    description: 'requests outputs from a model over the chat-completions protocol',
    properties: {
      type: { const: 'openai_compatible' },
      base_url: baseUrl,
      model,
      params,
      api_key_env: apiKeyEnv,
    },
    required: ['type', 'base_url', 'model'],
    additionalProperties: false,
  },
  item_field: {
    type: 'object',
    title: 'item_field',
    description: 'uses outputs that the items contain',
    properties: {
      type: { const: 'item_field' },
      pointer: {
        type: 'string',
        maxLength: 1024,
        pattern: '^(/([^~]|~[01])*)?$',
        description: 'JSON Pointer (RFC 6901) into the item',
      },
    },
    required: ['type', 'pointer'],
    additionalProperties: false,
  },
  echo: {
    type: 'object',
    title: 'echo',
    description: 'returns the last message, to try a dataset or a deployment',
    properties: { type: { const: 'echo' } },
    required: ['type'],
    additionalProperties: false,
  },
};

/** The model that judges. */
const JUDGE_SCHEMA: RunConfigSchema = {
  type: 'object',
  description:
    'the model that scores items with a `judge` checker, and items with criteria or a judge prompt',
  properties: {
    base_url: baseUrl,
    model,
    params,
    api_key_env: apiKeyEnv,
    threshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'the least score that passes if the judge does not say',
    },
  },
  required: ['base_url', 'model'],
  additionalProperties: false,
};

const limits = {
  repetitions: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'how often each item is run',
  },
  concurrency: {
    type: 'integer',
    minimum: 1,
    maximum: 256,
    default: 8,
    description: 'how many items run at the same time',
  },
  max_retries: {
    type: 'integer',
    minimum: 0,
    maximum: 20,
    default: 5,
    description: 'how often a request is sent again after 429, 5xx or a broken connection',
  },
  timeout_ms: {
    type: 'integer',
    minimum: 100,
    maximum: 3_600_000,
    default: 120_000,
    description: 'how long one request may take, in milliseconds',
  },
};

/** The configuration without the details of `provider`, which has one schema per type. */
export const RUN_CONFIG_SHAPE: RunConfigSchema = {
  type: 'object',
  properties: { provider: { type: 'object' }, judge: JUDGE_SCHEMA, ...limits },
  required: ['provider'],
  additionalProperties: false,
};

/** The whole run configuration for the OpenAPI document. */
export const RUN_CONFIG_SCHEMA: RunConfigSchema = {
  ...RUN_CONFIG_SHAPE,
  properties: { provider: { oneOf: Object.values(PROVIDER_SCHEMAS) }, judge: JUDGE_SCHEMA, ...limits },
};
