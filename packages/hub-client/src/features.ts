import type { MappableFeature } from '@svc/jsonl-v23';
import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { HubError, shorten } from './errors.ts';
import type { YamlValue } from './parse-yaml.ts';

/** Kinds of files that a cell can hold as bytes and a path. */
export type Media = 'image' | 'audio' | 'video' | 'pdf' | 'mesh' | 'nifti';

/** The type of a column, whatever described it: the hub's feature JSON, a dataset card, Parquet or Arrow. */
export type Feature =
  | { kind: 'value'; dtype: string }
  | { kind: 'class_label'; names: readonly string[] }
  | { kind: 'list'; item: Feature; length: number | null; large: boolean }
  | { kind: 'struct'; fields: readonly NamedFeature[] }
  | { kind: 'map'; key: Feature; value: Feature }
  | { kind: 'media'; media: Media }
  | { kind: 'json' }
  | { kind: 'translation'; languages: readonly string[]; variable: boolean }
  | { kind: 'array'; dtype: string; shape: readonly (number | null)[] }
  /** A type that newer data may have and this code does not know; its cells are taken as they come. */
  | { kind: 'unknown'; type: string };

/** A column, or a member of a struct. */
export interface NamedFeature {
  name: string;
  feature: Feature;
}

/** The columns of a dataset, in order. */
export type Features = readonly NamedFeature[];

const ALIASES: Record<string, string> = { float: 'float32', double: 'float64' };
const PLAIN_DTYPE =
  /^(?:null|bool|u?int(?:8|16|32|64)|float(?:16|32|64)?|double|(?:large_)?(?:string|binary)|(?:string|binary)_view|date(?:32|64))$/;
const PARAMETRIC_DTYPE =
  /^(?:time32\[(?:s|ms)\]|time64\[(?:us|ns)\]|(?:timestamp|duration)\[(?:s|ms|us|ns)(?:, tz=[^\]]+)?\]|decimal(?:128|256)\(-?\d+, ?-?\d+\))$/;
const MEDIA = new Set<string>(['image', 'audio', 'video', 'pdf', 'mesh', 'nifti'] satisfies Media[]);

// What a card's entry may hold beside these, such as `length`, says nothing about what kind of type it is.
const STRUCTURE_KEYS = new Set(['dtype', 'struct', 'list', 'large_list', 'sequence']);

/** A feature that is one plain value; `float` and `double` are `float32` and `float64`. */
export function valueFeature(dtype: string): Feature {
  return { kind: 'value', dtype: ALIASES[dtype] ?? dtype };
}

/**
 * The dtype string of a feature: a value's own name, `int64` for class labels, `list<string>`, `list<float32>[3]`,
 * `large_list<...>`, `struct<a: string, b: list<int64>>`, `map<string, int64>`, `image` and its like, `json`,
 * `translation<en, fr>`, `array2d<int32>[2,3]`; an unknown type's name in snake case.
 */
export function dtypeOf(feature: Feature): string {
  switch (feature.kind) {
    case 'value':
      return feature.dtype;
    case 'class_label':
      return 'int64';
    case 'list': {
      const length = feature.length === null ? '' : `[${feature.length}]`;
      return `${feature.large ? 'large_list' : 'list'}<${dtypeOf(feature.item)}>${length}`;
    }
    case 'struct':
      return `struct<${feature.fields.map(({ name, feature: inner }) => `${name}: ${dtypeOf(inner)}`).join(', ')}>`;
    case 'map':
      return `map<${dtypeOf(feature.key)}, ${dtypeOf(feature.value)}>`;
    case 'media':
      return feature.media;
    case 'json':
      return 'json';
    case 'translation':
      return `${feature.variable ? 'translation_variable_languages' : 'translation'}<${feature.languages.join(', ')}>`;
    case 'array':
      return `array${feature.shape.length}d<${feature.dtype}>[${feature.shape.map((size) => size ?? '').join(',')}]`;
    case 'unknown':
      return toSnakeCase(feature.type);
  }
}

/** A column as mapping sees it: name, dtype string, and names where it is a class label. */
export function toMappable({ name, feature }: NamedFeature): MappableFeature {
  return feature.kind === 'class_label'
    ? { name, dtype: dtypeOf(feature), classLabelNames: feature.names }
    : { name, dtype: dtypeOf(feature) };
}

/**
 * Features in the hub's own JSON form, as Parquet files and the dataset viewer carry them: today's, and those that older
 * versions wrote (`Sequence`, one-element lists, `length: -1`). Types nobody knows become `unknown`.
 */
export function featuresFromJson(value: JsonValue): Features {
  return members(value).map(([name, inner]) => ({ name, feature: featureFromJson(inner) }));
}

/** One feature in the hub's JSON form. */
export function featureFromJson(value: JsonValue): Feature {
  if (Array.isArray(value)) {
    return value.length === 1 ? listOf(featureFromJson(value[0]!)) : { kind: 'unknown', type: 'list' };
  }
  const members_ = members(value);
  const object = new Map(members_);
  const type = object.get('_type');
  // A struct may have a member of this name; only a text marks a type.
  if (typeof type !== 'string') {
    return {
      kind: 'struct',
      fields: members_.map(([name, inner]) => ({ name, feature: featureFromJson(inner) })),
    };
  }
  const dtype = object.get('dtype');
  switch (type) {
    case 'Value':
      return typeof dtype === 'string' ? valueFeature(dtype) : { kind: 'unknown', type };
    case 'ClassLabel':
      return { kind: 'class_label', names: labelNames(object) };
    case 'List':
    case 'LargeList':
    case 'Sequence': {
      const inner = featureFromJson(object.get('feature') ?? null);
      const length = listLength(object.get('length'));
      const large = type === 'LargeList';
      // What used to be a sequence of structs is stored as a struct of lists.
      return type === 'Sequence' ? sequenceOf(inner, length) : { kind: 'list', item: inner, length, large };
    }
    case 'Translation':
    case 'TranslationVariableLanguages':
      return {
        kind: 'translation',
        languages: texts(object.get('languages')),
        variable: type !== 'Translation',
      };
    case 'Json':
      return { kind: 'json' };
    default: {
      const media = type.toLowerCase();
      if (MEDIA.has(media)) return { kind: 'media', media: media as Media };
      const shape = object.get('shape');
      if (/^Array[2-5]D$/.test(type) && Array.isArray(shape) && typeof dtype === 'string') {
        const sizes = shape.map((size) => (typeof size === 'number' ? size : null));
        return { kind: 'array', dtype: ALIASES[dtype] ?? dtype, shape: sizes };
      }
      return { kind: 'unknown', type };
    }
  }
}

/**
 * Features as a dataset card writes them: a list of `{name, dtype | list | sequence | large_list | struct}`.
 *
 * @returns null where the value is no such list
 * @throws HubError `hub_unsupported_dataset` where the names of a class label have gaps
 */
export function featuresFromYaml(value: YamlValue): Features | null {
  if (!Array.isArray(value)) return null;
  const features: NamedFeature[] = [];
  for (const item of value) {
    const map = yamlMembers(item);
    const name = map.find(([key]) => key === 'name')?.[1];
    if (typeof name !== 'string' && typeof name !== 'number') return null;
    features.push({ name: String(name), feature: featureFromYaml(map.filter(([key]) => key !== 'name')) });
  }
  return features;
}

function featureFromYaml(item: [string, YamlValue][]): Feature {
  const first = item.find(([key]) => STRUCTURE_KEYS.has(key)) ?? item[0];
  if (first === undefined) return { kind: 'struct', fields: [] };
  const [type, value] = first;
  switch (type) {
    case 'dtype':
      return typeof value === 'string' ? namedFeature(value) : featureFromYaml(yamlMembers(value));
    case 'struct':
      return innerFromYaml(value);
    case 'list':
    case 'large_list':
    case 'sequence': {
      const inner = innerFromYaml(value);
      const length = listLength(new Map(item).get('length'));
      return type === 'sequence'
        ? sequenceOf(inner, length)
        : { kind: 'list', item: inner, length, large: type === 'large_list' };
    }
    default: {
      // A type with arguments, such as {class_label: {names: ...}} or {array2_d: {shape: ..., dtype: ...}}.
      const json = Object.fromEntries(yamlMembers(value)) as Record<string, JsonValue>;
      if (type === 'class_label' && json['names'] !== undefined) json['names'] = labelList(json['names']);
      return featureFromJson({ ...json, _type: toPascalCase(type) });
    }
  }
}

function innerFromYaml(value: YamlValue): Feature {
  if (typeof value === 'string') return namedFeature(value);
  if (!Array.isArray(value)) return featureFromYaml(yamlMembers(value));
  return { kind: 'struct', fields: featuresFromYaml(value) ?? [] };
}

/** A type that stands alone: a value's dtype, else a type without arguments. */
function namedFeature(name: string): Feature {
  if (PLAIN_DTYPE.test(name) || PARAMETRIC_DTYPE.test(name)) return valueFeature(name);
  return featureFromJson({ _type: toPascalCase(name) });
}

/** Class label names by their numbers; a plain list is taken as it is. */
function labelList(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value;
  const byNumber = new Map(members(value).map(([key, name]) => [Number(key), name]));
  return Array.from(byNumber, (_, index) => {
    const name = byNumber.get(index);
    if (name === undefined) {
      throw new HubError('hub_unsupported_dataset', `A class label of the card has no name for ${index}`);
    }
    return name;
  });
}

function labelNames(object: Map<string, JsonValue>): string[] {
  const names = object.get('names');
  if (Array.isArray(names)) return names.map((name) => (typeof name === 'string' ? name : String(name)));
  const count = object.get('num_classes');
  return typeof count === 'number' && count >= 0 && count <= 1_000_000
    ? Array.from({ length: count }, (_, index) => String(index))
    : [];
}

function sequenceOf(inner: Feature, length: number | null): Feature {
  if (inner.kind !== 'struct') return { kind: 'list', item: inner, length, large: false };
  return {
    kind: 'struct',
    fields: inner.fields.map(({ name, feature }) => ({
      name,
      feature: { kind: 'list', item: feature, length, large: false },
    })),
  };
}

function listOf(item: Feature): Feature {
  return { kind: 'list', item, length: null, large: false };
}

function listLength(value: JsonValue | YamlValue | undefined): number | null {
  return typeof value === 'number' && value >= 0 ? value : null;
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function members(value: JsonValue): [string, JsonValue][] {
  const plain = typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
  return plain && !Array.isArray(value) ? Object.entries(value) : [];
}

function yamlMembers(value: YamlValue): [string, YamlValue][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HubError('hub_unsupported_dataset', `The card describes a column by ${shorten(String(value))}`);
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

function toSnakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
