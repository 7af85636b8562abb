import type { JsonObject } from '@svc/jsonl-v23/json';

/** A model behind the chat-completions protocol. */
export interface ModelConfig {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  readonly params: JsonObject;
  /** Name of the environment variable that holds the key; null for a server that needs none. */
  readonly apiKeyEnv: string | null;
}

export type ProviderConfig =
  | ({ readonly type: 'openai_compatible' } & ModelConfig)
  | { readonly type: 'item_field'; readonly pointer: string }
  | { readonly type: 'echo' };

/** A valid run configuration. It holds no secret: keys stay with the workers. */
export interface RunConfig {
  readonly provider: ProviderConfig;
  readonly judge: (ModelConfig & { readonly threshold: number }) | null;
  readonly repetitions: number;
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly timeoutMs: number;
}

/** Reads a configuration that is normalized and satisfies the schema. */
export function runConfigFromJson(config: JsonObject): RunConfig {
  const number = (name: string, fallback: number): number =>
    typeof config[name] === 'number' ? config[name] : fallback;
  const judge = config['judge'] as JsonObject | undefined;
  const threshold = judge?.['threshold'];
  return {
    provider: toProvider(config['provider'] as JsonObject),
    judge:
      judge === undefined
        ? null
        : { ...toModel(judge), threshold: typeof threshold === 'number' ? threshold : 0.5 },
    repetitions: number('repetitions', 1),
    concurrency: number('concurrency', 8),
    maxRetries: number('max_retries', 5),
    timeoutMs: number('timeout_ms', 120_000),
  };
}

function toProvider(provider: JsonObject): ProviderConfig {
  switch (provider['type']) {
    case 'echo':
      return { type: 'echo' };
    case 'item_field':
      return { type: 'item_field', pointer: provider['pointer'] as string };
    default:
      return { type: 'openai_compatible', ...toModel(provider) };
  }
}

function toModel(model: JsonObject): ModelConfig {
  return {
    baseUrl: (model['base_url'] as string).replace(/(?<!\/)\/+$/, ''),
    model: model['model'] as string,
    params: (model['params'] as JsonObject | undefined) ?? {},
    apiKeyEnv: (model['api_key_env'] as string | undefined) ?? null,
  };
}

/** The configuration as it is stored, displayed and exported, with all defaults. `parseRunConfig` accepts it. */
export function runConfigToJson(config: RunConfig): JsonObject {
  const { provider, judge } = config;
  return {
    provider:
      provider.type === 'openai_compatible'
        ? { type: provider.type, ...modelToJson(provider) }
        : { ...provider },
    ...(judge === null ? {} : { judge: { ...modelToJson(judge), threshold: judge.threshold } }),
    repetitions: config.repetitions,
    concurrency: config.concurrency,
    max_retries: config.maxRetries,
    timeout_ms: config.timeoutMs,
  };
}

function modelToJson(model: ModelConfig): JsonObject {
  return {
    base_url: model.baseUrl,
    model: model.model,
    params: model.params,
    ...(model.apiKeyEnv === null ? {} : { api_key_env: model.apiKeyEnv }),
  };
}
