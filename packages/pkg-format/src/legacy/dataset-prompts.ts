import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PackageError } from '../errors.ts';
import type { DatasetPrompts } from './upgrade-item.ts';

/** Prompts of a list; each item looks at all of them. */
const MAX_LISTED_PROMPTS = 1000;

/**
 * The prompts for all items in legacy metadata: `system_prompt`, `judge_prompt` and `default_judge_prompts`, each from
 * the first object that has it.
 *
 * `default_judge_prompts` is one prompt, a list of prompts (which are joined), a map by item type or
 * section with `default` for the rest, or a list of `{type | section, prompt}`.
 *
 * @param blobs the first has priority: a file's members, then `meta.json`, then `manifest.json`
 * @throws PackageError `package_limit` for a list of more than 1,000 prompts
 */
export function datasetPrompts(blobs: readonly (JsonObject | null)[]): DatasetPrompts {
  const first = (key: string): JsonValue | undefined =>
    blobs
      .map((blob) => (blob ? getMember(blob, key) : undefined))
      .find((value) => value !== undefined && value !== null);
  const systemPrompt = first('system_prompt');
  const judgePrompt = first('judge_prompt');
  const defaults = first('default_judge_prompts');
  if (Array.isArray(defaults) && defaults.length > MAX_LISTED_PROMPTS) {
    const message = `default_judge_prompts must have at most ${MAX_LISTED_PROMPTS} prompts, got ${defaults.length}.`;
    throw new PackageError('package_limit', message);
  }
  return {
    areNone: systemPrompt === undefined && judgePrompt === undefined && defaults === undefined,
    systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : null,
    judgePrompt: (type, section) =>
      typeof judgePrompt === 'string' ? judgePrompt : defaultPrompt(defaults, type, section),
  };
}

function defaultPrompt(defaults: JsonValue | undefined, type: string, section: string): string | null {
  if (typeof defaults === 'string') return defaults;
  if (Array.isArray(defaults)) return promptOfList(defaults, type, section);
  if (!isJsonObject(defaults)) return null;
  for (const key of [type, section, 'default', '*']) {
    const prompt = promptText(getMember(defaults, key));
    if (prompt !== null) return prompt;
  }
  return null;
}

function promptOfList(list: readonly JsonValue[], type: string, section: string): string | null {
  const matching = list.filter((member) => {
    if (!isJsonObject(member)) return true;
    const [forType, forSection] = [getMember(member, 'type'), getMember(member, 'section')];
    return (
      (forType === undefined || forType === type) && (forSection === undefined || forSection === section)
    );
  });
  const prompts = matching.map(promptText).filter((prompt) => prompt !== null);
  return prompts.length === 0 ? null : prompts.join('\n\n');
}

function promptText(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return null;
  const prompt = getMember(value, 'prompt') ?? getMember(value, 'text');
  return typeof prompt === 'string' ? prompt : null;
}
