import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { asMap, type YamlMap, type YamlValue } from './yaml-value.ts';

/** Ignored files that are listed; their total is given, too. */
const MAX_NAMED_FILES = 100;

/**
 * Describes a dataset, by the hub's metadata, then by the dataset card. `description`, `citation`, `homepage` and
 * `license` are always present, null if unknown; the others only if known.
 */
export function describeDataset(
  about: Readonly<Record<string, unknown>>,
  card: YamlMap,
  ignoredFiles: readonly string[],
): JsonObject {
  const declared = asMap(firstOf(card['dataset_info'])) ?? {};
  const known = (key: string): JsonValue => {
    for (const value of [about[key], card[key], declared[key]]) {
      if (typeof value === 'string' && value.trim() !== '') return value.trim();
      if (Array.isArray(value) && value.length > 0) return value as JsonValue;
    }
    return null;
  };
  const info: JsonObject = {};
  for (const key of ['description', 'citation', 'homepage', 'license']) info[key] = known(key);
  for (const key of ['pretty_name', 'language', 'task_categories', 'size_categories', 'tags']) {
    const value = known(key);
    if (value !== null) info[key] = value;
  }
  if (typeof about['lastModified'] === 'string') info['last_modified'] = about['lastModified'];
  if (about['gated'] === 'auto' || about['gated'] === 'manual') info['gated'] = about['gated'];
  if (about['private'] === true) info['private'] = true;
  if (ignoredFiles.length > 0) {
    info['ignored_files'] = ignoredFiles.slice(0, MAX_NAMED_FILES);
    if (ignoredFiles.length > MAX_NAMED_FILES) info['ignored_files_total'] = ignoredFiles.length;
  }
  return info;
}

function firstOf(value: YamlValue | undefined): YamlValue {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
