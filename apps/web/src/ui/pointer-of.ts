import { getMember, isJsonObject, type JsonObject, type JsonValue, jsonPointer } from '@svc/jsonl-v23/json';

/** The object that an object has under a name; an empty one in place of anything else. */
export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = getMember(object, name);
  return isJsonObject(value) ? value : {};
}

export function textIn(object: JsonObject, name: string): string | undefined {
  const value = getMember(object, name);
  return typeof value === 'string' ? value : undefined;
}

export const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

/** A pointer as people read it: `customer.tier`. */
export const pointerName = (pointer: string): string => stepsOf(pointer).join('.');

/** The value at a pointer through objects; undefined without one. */
export const valueAt = (value: JsonValue | undefined, pointer: string): JsonValue | undefined =>
  stepsOf(pointer).reduce<JsonValue | undefined>(
    (at, step) => (at !== undefined && isJsonObject(at) ? getMember(at, step) : undefined),
    value,
  );

/** Objects within objects whose members have pointers of their own. */
const MAX_DEPTH = 4;

/** The values of an object that are no objects themselves, by their pointers. */
export function leavesOf(
  object: JsonObject,
  before = '',
  depth = 1,
): readonly (readonly [string, JsonValue])[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const pointer = before + jsonPointer([name]);
    return isJsonObject(value) && Object.keys(value).length > 0 && depth < MAX_DEPTH
      ? leavesOf(value, pointer, depth + 1)
      : [[pointer, value] as const];
  });
}

export function withValueAt(object: JsonObject, pointer: string, value: JsonValue): JsonObject {
  const [step = '', ...rest] = stepsOf(pointer);
  if (rest.length === 0) return { ...object, [step]: value };
  return { ...object, [step]: withValueAt(objectIn(object, step), jsonPointer(rest), value) };
}
