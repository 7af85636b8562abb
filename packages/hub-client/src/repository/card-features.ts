import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { type Features, featureFromJson, shorten } from '@svc/tabular';
import { HubError } from '../errors.ts';
import { asMap, type YamlValue } from './metadata.ts';

const PLAIN_DTYPE =
  /^(?:null|bool|u?int(?:8|16|32|64)|float(?:16|32|64)?|double|(?:large_)?(?:string|binary)|(?:string|binary)_view|date(?:32|64))$/;
const PARAMETRIC_DTYPE =
  /^(?:time32\[(?:s|ms)\]|time64\[(?:us|ns)\]|(?:timestamp|duration)\[(?:s|ms|us|ns)(?:, tz=[^\]]+)?\]|decimal(?:128|256)\(-?\d+, ?-?\d+\))$/;

// Other keys of an entry, such as `length`, do not determine its type.
const STRUCTURE_KEYS = new Set(['dtype', 'struct', 'list', 'large_list', 'sequence']);

/** From a list of `{name, dtype | list | sequence | large_list | struct}`; null if the value is not such a list. */
export function featuresFromYaml(value: YamlValue): Features | null {
  if (!Array.isArray(value)) return null;
  const members = membersFromYaml(value);
  return members?.map(([name, inner]) => ({ name, feature: featureFromJson(inner) })) ?? null;
}

/** Named features in the hub's JSON form; null if one has no name. */
function membersFromYaml(items: readonly YamlValue[]): [name: string, feature: JsonValue][] | null {
  const members: [string, JsonValue][] = [];
  for (const item of items) {
    const map = yamlMembers(item);
    const name = map.find(([key]) => key === 'name')?.[1];
    if (typeof name !== 'string' && typeof name !== 'number') return null;
    members.push([String(name), jsonFromYaml(map.filter(([key]) => key !== 'name'))]);
  }
  return members;
}

/** A feature in the hub's JSON form. */
function jsonFromYaml(item: [string, YamlValue][]): JsonObject {
  const first = item.find(([key]) => STRUCTURE_KEYS.has(key)) ?? item[0];
  if (first === undefined) return {};
  const [type, value] = first;
  switch (type) {
    case 'dtype':
      return typeof value === 'string' ? namedFeature(value) : jsonFromYaml(yamlMembers(value));
    case 'struct':
      return innerFromYaml(value);
    case 'list':
    case 'large_list':
    case 'sequence': {
      const length = (new Map(item).get('length') ?? null) as JsonValue;
      return { _type: toPascalCase(type), feature: innerFromYaml(value), length };
    }
    default: {
      // A type with arguments, such as {class_label: {names: ...}} or {array2_d: {shape: ..., dtype: ...}}.
      const json = Object.fromEntries(yamlMembers(value)) as Record<string, JsonValue>;
      if (type === 'class_label' && json['names'] !== undefined) json['names'] = labelList(json['names']);
      return { ...json, _type: toPascalCase(type) };
    }
  }
}

function innerFromYaml(value: YamlValue): JsonObject {
  if (typeof value === 'string') return namedFeature(value);
  if (!Array.isArray(value)) return jsonFromYaml(yamlMembers(value));
  return Object.fromEntries(membersFromYaml(value) ?? []);
}

function namedFeature(name: string): JsonObject {
  const isValue = PLAIN_DTYPE.test(name) || PARAMETRIC_DTYPE.test(name);
  return isValue ? { _type: 'Value', dtype: name } : { _type: toPascalCase(name) };
}

/** Class label names by their numbers; a plain list stays as it is. */
function labelList(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value;
  const byNumber = new Map(
    Object.entries(asMap(value as YamlValue) ?? {}).map(([key, name]) => [Number(key), name]),
  );
  return Array.from(byNumber, (_, index) => {
    const name = byNumber.get(index);
    if (name === undefined) {
      throw new HubError('hub_unsupported_dataset', `A class label of the card has no name for ${index}.`);
    }
    return name;
  });
}

function yamlMembers(value: YamlValue): [string, YamlValue][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HubError('hub_unsupported_dataset', `Invalid column in the card: ${shorten(String(value))}.`);
  }
  return Object.entries(value);
}

/** `array2_d` and `Array2D`, `class_label` and `ClassLabel`. */
function toPascalCase(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
