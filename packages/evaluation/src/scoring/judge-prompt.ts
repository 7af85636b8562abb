import type { Item } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/**
 * The judge prompt of an item: its own (`meta.judge_prompt`), else the dataset's default. Defaults are one text, a list
 * of texts that are joined, or an object of texts by item type, with `default` for the others.
 */
export function judgePrompt(item: Item, defaults: JsonValue): string | undefined {
  const meta = getMember(item, 'meta');
  const own = isJsonObject(meta) ? getMember(meta, 'judge_prompt') : undefined;
  if (typeof own === 'string' && own.trim() !== '') return own;
  if (!isJsonObject(defaults)) return promptText(defaults);
  const type = getMember(item, 'type');
  const byType = getMember(defaults, typeof type === 'string' ? type : 'freeform');
  const names = Object.keys(defaults);
  const only = names.length === 1 ? getMember(defaults, names[0] ?? '') : undefined;
  return promptText(
    byType ?? getMember(defaults, 'default') ?? getMember(defaults, 'prompt') ?? only ?? null,
  );
}

function promptText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (Array.isArray(value)) {
    const texts = value.map(promptText).filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : texts.join('\n\n');
  }
  return isJsonObject(value) ? promptText(getMember(value, 'prompt') ?? null) : undefined;
}
