import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { RunConfig } from '../config/run-config.ts';

/** The members of a configuration that decide what a model is asked about an item. */
type Asking = Pick<RunConfig, 'provider' | 'system_prompt' | 'prompt_template'>;

/** Whether two runs ask a model the same about equal items. */
export function asksTheSame(config: Asking, other: Asking): boolean {
  return factsOf(config) === factsOf(other);
}

function factsOf(config: Asking): string {
  const { api_key_env: _, auth: __, ...provider }: JsonObject = { ...config.provider };
  const prompts = {
    system_prompt: config.system_prompt ?? null,
    prompt_template: config.prompt_template ?? null,
  };
  return canonicalJson({ ...prompts, provider });
}
