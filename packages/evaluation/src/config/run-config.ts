import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { RunPrompts } from '../item/prompt-template.ts';
import type { RunChecker } from '../item/with-checker.ts';

/** A model and how it is asked. */
export interface ModelConfig {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  readonly params: JsonObject;
  /** Name of the environment variable that holds the key; null for a server that needs none. */
  readonly apiKeyEnv: string | null;
  readonly auth: 'bearer' | 'api-key';
  /** Query parameters of the URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Further headers; none is a secret. */
  readonly extraHeaders: Readonly<Record<string, string>>;
}

export type ProviderConfig =
  | ({ readonly type: 'openai_compatible' | 'anthropic' } & ModelConfig)
  | { readonly type: 'item_field'; readonly pointer: string }
  | { readonly type: 'echo' };

/** The model that judges. */
export type JudgeConfig = ModelConfig & {
  readonly type: 'openai_compatible' | 'anthropic';
  readonly threshold: number;
  readonly price: Price | null;
};

/** Which items of a dataset a run takes; its members apply in this order. */
export interface RunSelection {
  readonly limit: number | null;
  readonly sections: readonly string[] | null;
  readonly types: readonly string[] | null;
  readonly tags: readonly string[] | null;
  /** Strings and integers. */
  readonly itemIds: readonly JsonValue[] | null;
  readonly sample: { readonly n: number; readonly seed: string } | null;
}

/** What a provider charges. */
export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** A valid run configuration. It holds no secret: keys stay with the workers. */
export interface RunConfig {
  readonly provider: ProviderConfig;
  readonly judge: JudgeConfig | null;
  /** Null for all items. */
  readonly select: RunSelection | null;
  readonly prompts: RunPrompts;
  readonly checker: RunChecker | null;
  readonly allowUnscored: boolean;
  readonly repetitions: number;
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly maxConsecutiveFailures: number;
  /** Null without a limit. */
  readonly requestsPerMinute: number | null;
  readonly price: Price | null;
}

/** Reads a configuration that is normalized and satisfies the schema. */
export function runConfigFromJson(config: JsonObject): RunConfig {
  const number = (name: string, fallback: number): number =>
    typeof config[name] === 'number' ? config[name] : fallback;
  const text = (name: string): string | null => (config[name] as string | undefined) ?? null;
  const judge = config['judge'] as JsonObject | undefined;
  const checker = config['checker'];
  return {
    provider: toProvider(config['provider'] as JsonObject),
    judge: judge === undefined ? null : toJudge(judge),
    select: toSelection(config['select'] as JsonObject | undefined),
    prompts: { system: text('system_prompt'), template: text('prompt_template') },
    checker:
      checker === undefined
        ? null
        : {
            json: canonicalJson(checker),
            mode: config['checker_mode'] === 'override' ? 'override' : 'default',
          },
    allowUnscored: config['allow_unscored'] === true,
    repetitions: number('repetitions', 1),
    concurrency: number('concurrency', 8),
    maxRetries: number('max_retries', 5),
    timeoutMs: number('timeout_ms', 120_000),
    maxConsecutiveFailures: number('max_consecutive_failures', 20),
    requestsPerMinute: (config['requests_per_minute'] as number | undefined) ?? null,
    price: toPrice(config['price'] as JsonObject | undefined),
  };
}

function toProvider(provider: JsonObject): ProviderConfig {
  switch (provider['type']) {
    case 'echo':
      return { type: 'echo' };
    case 'item_field':
      return { type: 'item_field', pointer: provider['pointer'] as string };
    case 'anthropic':
      return { type: 'anthropic', ...toModel(provider) };
    default:
      return { type: 'openai_compatible', ...toModel(provider) };
  }
}

function toJudge(judge: JsonObject): JudgeConfig {
  const threshold = judge['threshold'];
  return {
    type: judge['type'] === 'anthropic' ? 'anthropic' : 'openai_compatible',
    ...toModel(judge),
    threshold: typeof threshold === 'number' ? threshold : 0.5,
    price: toPrice(judge['price'] as JsonObject | undefined),
  };
}

function toModel(model: JsonObject): ModelConfig {
  return {
    baseUrl: (model['base_url'] as string).replace(/(?<!\/)\/+$/, ''),
    model: model['model'] as string,
    params: (model['params'] as JsonObject | undefined) ?? {},
    apiKeyEnv: (model['api_key_env'] as string | undefined) ?? null,
    auth: model['auth'] === 'api-key' ? 'api-key' : 'bearer',
    query: (model['query'] as Record<string, string> | undefined) ?? {},
    extraHeaders: (model['extra_headers'] as Record<string, string> | undefined) ?? {},
  };
}

function toSelection(select: JsonObject | undefined): RunSelection | null {
  if (select === undefined || Object.keys(select).length === 0) return null;
  const list = <T extends JsonValue>(name: string): readonly T[] | null =>
    (select[name] as T[] | undefined) ?? null;
  const sample = select['sample'] as JsonObject | undefined;
  return {
    limit: (select['limit'] as number | undefined) ?? null,
    sections: list('sections'),
    types: list('types'),
    tags: list('tags'),
    itemIds: list('item_ids'),
    sample: sample === undefined ? null : { n: sample['n'] as number, seed: String(sample['seed'] ?? 0) },
  };
}

function toPrice(price: JsonObject | undefined): Price | null {
  if (price === undefined) return null;
  return {
    inputPerMillion: Number(price['input_per_million']),
    outputPerMillion: Number(price['output_per_million']),
    currency: (price['currency'] as string | undefined) ?? 'USD',
  };
}
