import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { readStoredJson } from '@svc/store';

/** `default_judge_prompts` of the package that a dataset came from; null without them. @param schema of the dataset */
export function defaultJudgePrompts(schema: string): JsonValue {
  let value: JsonValue | undefined = readStoredJson(schema);
  for (const key of ['package', 'meta', 'default_judge_prompts']) {
    value = isJsonObject(value) ? getMember(value, key) : undefined;
  }
  return value ?? null;
}
