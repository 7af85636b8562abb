import type { JsonObject } from '@svc/jsonl-v23/json';
import { readCanonicalText } from '../item/canonical-text.ts';
import type { JudgeConfig, ModelConfig, Price, RunConfig, RunSelection } from './run-config.ts';

/** The configuration as it is stored, displayed and exported, with all defaults. `parseRunConfig` accepts it. */
export function runConfigToJson(config: RunConfig): JsonObject {
  const { provider, judge, select, prompts, checker, price } = config;
  return withoutNulls({
    provider:
      provider.type === 'openai_compatible' || provider.type === 'anthropic'
        ? { type: provider.type, ...modelToJson(provider) }
        : { ...provider },
    judge: judge === null ? null : judgeToJson(judge),
    select: select === null ? null : selectionToJson(select),
    system_prompt: prompts.system,
    prompt_template: prompts.template,
    checker: checker === null ? null : readCanonicalText(checker.json),
    checker_mode: checker === null ? null : checker.mode,
    allow_unscored: config.allowUnscored ? true : null,
    repetitions: config.repetitions,
    concurrency: config.concurrency,
    max_retries: config.maxRetries,
    timeout_ms: config.timeoutMs,
    max_consecutive_failures: config.maxConsecutiveFailures,
    requests_per_minute: config.requestsPerMinute,
    price: price === null ? null : priceToJson(price),
  });
}

function judgeToJson(judge: JudgeConfig): JsonObject {
  const { type, threshold, price } = judge;
  return {
    ...{ type, ...modelToJson(judge), threshold },
    ...(price === null ? {} : { price: priceToJson(price) }),
  };
}

function priceToJson({ inputPerMillion, outputPerMillion, currency }: Price): JsonObject {
  return { input_per_million: inputPerMillion, output_per_million: outputPerMillion, currency };
}

function modelToJson(model: ModelConfig): JsonObject {
  const { query, extraHeaders } = model;
  return withoutNulls({
    base_url: model.baseUrl,
    model: model.model,
    params: model.params,
    api_key_env: model.apiKeyEnv,
    auth: model.auth === 'bearer' ? null : model.auth,
    query: Object.keys(query).length === 0 ? null : { ...query },
    extra_headers: Object.keys(extraHeaders).length === 0 ? null : { ...extraHeaders },
  });
}

function selectionToJson(select: RunSelection): JsonObject {
  const list = <T>(values: readonly T[] | null): T[] | null => (values === null ? null : [...values]);
  return withoutNulls({
    limit: select.limit,
    sections: list(select.sections),
    types: list(select.types),
    tags: list(select.tags),
    item_ids: list(select.itemIds),
    sample: select.sample === null ? null : { ...select.sample },
  });
}

function withoutNulls(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
