import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { MappableFeature } from '@svc/jsonl-v23/mapping';

/** Kinds of files that a cell can hold as bytes and a path. */
type Media = 'image' | 'audio' | 'video' | 'pdf' | 'mesh' | 'nifti';

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

export interface NamedFeature {
  readonly name: string;
  readonly feature: Feature;
}

/** The columns of a dataset, in order. */
export type Features = readonly NamedFeature[];

const ALIASES: Record<string, string> = { float: 'float32', double: 'float64' };
const MEDIA = new Set<string>(['image', 'audio', 'video', 'pdf', 'mesh', 'nifti'] satisfies Media[]);

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

export function someFeature(feature: Feature, test: (feature: Feature) => boolean): boolean {
  if (test(feature)) return true;
  switch (feature.kind) {
    case 'list':
      return someFeature(feature.item, test);
    case 'struct':
      return feature.fields.some((field) => someFeature(field.feature, test));
    case 'map':
      return someFeature(feature.key, test) || someFeature(feature.value, test);
    default:
      return false;
  }
}

/** A column as mapping sees it: name, dtype string, and names if it is a class label. */
export function toMappable({ name, feature }: NamedFeature): MappableFeature {
  return feature.kind === 'class_label'
    ? { name, dtype: dtypeOf(feature), classLabelNames: feature.names }
    : { name, dtype: dtypeOf(feature) };
}

/** The hub's JSON form, also older ones (`Sequence`, one-element lists, `length: -1`). Other types are `unknown`. */
export function featuresFromJson(value: JsonValue): Features {
  return members(value).map(([name, inner]) => ({ name, feature: featureFromJson(inner) }));
}

/** One feature in the hub's JSON form. */
export function featureFromJson(value: JsonValue): Feature {
  if (Array.isArray(value)) {
    return value.length === 1
      ? listOf(featureFromJson(value[0] as JsonValue))
      : { kind: 'unknown', type: 'list' };
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

function labelNames(object: Map<string, JsonValue>): string[] {
  const names = object.get('names');
  if (Array.isArray(names)) return names.map((name) => (typeof name === 'string' ? name : String(name)));
  const count = object.get('num_classes');
  return typeof count === 'number' && count >= 0 && count <= 1_000_000
    ? Array.from({ length: count }, (_, index) => String(index))
    : [];
}

/** A list, or of structs a struct of lists: how a former `Sequence` is stored. */
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

export function listOf(item: Feature): Feature {
  return { kind: 'list', item, length: null, large: false };
}

function listLength(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && value >= 0 ? value : null;
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function members(value: JsonValue): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function toSnakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
