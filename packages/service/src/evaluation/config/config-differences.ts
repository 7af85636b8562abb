import { canonicalJson, isJsonObject, type JsonValue, jsonPointer } from '@svc/jsonl-v23/json';

export interface ConfigDifference {
  readonly path: string;
  /** Absent if the configuration has no such member; the beginning of a long text, or of the JSON text of another long value. */
  readonly value?: JsonValue;
  readonly other_value?: JsonValue;
}

const MAX_DIFFERENCES = 100;
const MAX_VALUE_CHARS = 1_000;

/** Where two configurations differ, in the order of their members: the first 100 places. */
export function configDifferences(one: JsonValue, other: JsonValue): readonly ConfigDifference[] {
  const found: ConfigDifference[] = [];
  add(one, other, '', found);
  return found;
}

function add(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  path: string,
  found: ConfigDifference[],
): void {
  if (found.length === MAX_DIFFERENCES) return;
  const [mine, theirs] = [membersOf(one), membersOf(other)];
  if (mine !== undefined && theirs !== undefined && Array.isArray(one) === Array.isArray(other)) {
    for (const name of new Set([...mine.keys(), ...theirs.keys()])) {
      add(mine.get(name), theirs.get(name), `${path}${jsonPointer([name])}`, found);
    }
    return;
  }
  if (textOf(one) === textOf(other)) return;
  found.push({
    path,
    ...(one !== undefined && { value: shown(one) }),
    ...(other !== undefined && { other_value: shown(other) }),
  });
}

const textOf = (value: JsonValue | undefined): string | undefined =>
  value === undefined ? undefined : canonicalJson(value);

function membersOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> | undefined {
  if (Array.isArray(value)) return new Map(value.map((element, index) => [String(index), element]));
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

function shown(value: JsonValue): JsonValue {
  const text = typeof value === 'string' ? value : canonicalJson(value);
  return text.length <= MAX_VALUE_CHARS ? value : `${text.slice(0, MAX_VALUE_CHARS).toWellFormed()}…`;
}
