import type { FieldSchema } from '@svc/client';
import {
  canonicalJson,
  formatLocation,
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';

/** Members of a configuration, as the API names them, or as a form has them while they are typed. */
export type Config = Readonly<Record<string, unknown>>;

/** The further members of an object that may have any, as JSON text. */
export const MORE = '$more';

/** A value that is an object; an empty one for others. */
export const objectOf = (value: unknown): Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : {};

export const stated = (members: Config): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

export const typesOf = ({ type }: FieldSchema): readonly unknown[] => [type].flat();

/** What stands between name and value in the text of an object of texts. */
export const markOf = (name: string): '=' | ':' => (name === 'query' ? '=' : ':');

/** A value of the API as a form has it while it is edited; of an absent one what is empty. */
export function typedOf(schema: FieldSchema, value?: unknown, name = ''): unknown {
  const { properties, additionalProperties, default: byDefault } = schema;
  const types = typesOf(schema);
  if (properties !== undefined) {
    const members = objectOf(value);
    const known = Object.entries(properties).map(([key, member]) => [
      key,
      typedOf(member, members[key], key),
    ]);
    const more = Object.entries(members).filter(([key]) => !Object.hasOwn(properties, key));
    return Object.fromEntries([
      ...known,
      ...(additionalProperties === true ? [[MORE, jsonText(Object.fromEntries(more))]] : []),
    ]);
  }
  if (types.includes('boolean')) return value ?? byDefault ?? false;
  if (types.includes('array')) return Array.isArray(value) ? [...new Set(value.map(String))] : [];
  if (types.includes('object'))
    return typeof additionalProperties === 'object'
      ? textOfPairs(objectOf(value), markOf(name) === '=' ? '=' : ': ')
      : jsonText(objectOf(value));
  if (value === undefined && types.length === 1 && schema.enum === undefined && typeof byDefault === 'string')
    return byDefault;
  // an exact number as text, which has every digit
  return typeof value === 'number' ? value : value === undefined || value === null ? '' : String(value);
}

const jsonText = (members: Config): string =>
  Object.keys(members).length === 0 ? '' : canonicalJson(members as never);

/** A value as the API takes it; undefined where nothing is stated. Members of a copied run that the schema lacks stay. */
export function valueOfTyped(schema: FieldSchema, typed: unknown, copied?: unknown, name = ''): unknown {
  const { properties, additionalProperties } = schema;
  const types = typesOf(schema);
  if (properties !== undefined) return objectValue(schema, objectOf(typed), objectOf(copied));
  if (typed === undefined || typed === null || typed === '') return undefined;
  if (types.includes('boolean')) return typed === (schema.default ?? false) ? undefined : typed;
  if (types.includes('array')) return listValue(schema, typed as readonly string[]);
  if (types.includes('object')) {
    const isPairs = typeof additionalProperties === 'object';
    const { value } = isPairs ? readPairs(String(typed), markOf(name)) : readObject(String(typed));
    return nonEmpty(value ?? {});
  }
  if (types.includes('number') || types.includes('integer'))
    return Number.isFinite(Number(typed)) ? Number(typed) : undefined;
  return schema.maxLength === undefined ? typed : String(typed).trim() || undefined;
}

/** An object is stated if a required member is; numbers among these are 0 by default. */
function objectValue(schema: FieldSchema, typed: Config, copied: Config): object | undefined {
  const { properties = {}, required = [], additionalProperties } = schema;
  const before = Object.entries(copied).filter(([key]) => !Object.hasOwn(properties, key));
  const more = additionalProperties === true ? readObject(String(typed[MORE] ?? '')).value : null;
  const members = stated({
    ...(additionalProperties === true ? {} : Object.fromEntries(before)),
    ...Object.fromEntries(
      Object.entries(properties).map(([key, member]) => [
        key,
        valueOfTyped(member, typed[key], copied[key], key) ?? member.const,
      ]),
    ),
    ...more,
  });
  if (required.length > 0 && !required.some((key) => members[key] !== undefined)) return undefined;
  for (const key of required) if (typesOf(properties[key] ?? {}).includes('number')) members[key] ??= 0;
  return nonEmpty(members);
}

function listValue({ items = {} }: FieldSchema, names: readonly string[]): unknown {
  if (names.length === 0) return undefined;
  return typesOf(items).includes('integer') ? names.flatMap(idsOf) : names;
}

/** An id that looks like a number may be one. */
export const idsOf = (id: string): readonly (string | number)[] =>
  /^-?\d{1,15}$/.test(id) ? [id, Number(id)] : [id];

const nonEmpty = (members: object): object | undefined =>
  Object.keys(members).length === 0 ? undefined : members;

/** What a typed text states, or else what is wrong with it, with its place. */
type Read<T> =
  | { readonly value: T; readonly problem: null }
  | { readonly value: null; readonly problem: string };

type Pairs = Readonly<Record<string, string>>;

const MAX_QUOTED_LENGTH = 40;

/** A value that is typed as JSON, numbers with every digit. */
export function readJson(text: string): Read<JsonValue> {
  try {
    return { value: parseJson(text), problem: null };
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { line, column } = error.location;
    const location = formatLocation({ line, column });
    return { value: null, problem: `Invalid JSON: ${error.message}${location && ` (${location})`}.` };
  }
}

/** The same of an object; an empty one of a blank text. */
export function readObject(text: string): Read<JsonObject> {
  const { value, problem } = text.trim() === '' ? { value: {}, problem: null } : readJson(text);
  if (problem !== null) return { value: null, problem };
  return isJsonObject(value) ? { value, problem } : { value: null, problem: 'This is not a JSON object.' };
}

/** A pair on each line, such as `name: value` with the mark `:`; blank lines count for nothing. */
export function readPairs(text: string, mark: '=' | ':'): Read<Pairs> {
  const pairs = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(mark);
    const name = line.slice(0, Math.max(0, at)).trim();
    const form = mark === '=' ? 'name=value' : 'name: value';
    if (name === '')
      return { value: null, problem: `Line ${index + 1} must be ${form}, got ${quoted(line)}.` };
    if (pairs.has(name)) return { value: null, problem: `Line ${index + 1} repeats ${quoted(name)}.` };
    pairs.set(name, line.slice(at + 1).trim());
  }
  return { value: Object.fromEntries(pairs), problem: null };
}

const quoted = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH - 1)}…` : text);

function textOfPairs(pairs: Readonly<Record<string, unknown>>, mark: '=' | ': '): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}${mark}${String(value)}`)
    .join('\n');
}
