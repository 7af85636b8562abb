import { JsonlError } from '../../errors.ts';
import { jsonPointer } from '../../source-location.ts';
import { ExactNumber, type JsonObject } from '../json-value.ts';

/** What the writer throws at a value that JSON cannot hold; {@link unwritableError} finds out where and what it is. */
export const UNWRITABLE: unique symbol = Symbol('a value that JSON cannot hold');

/**
 * Whether a value is an object of plain members. A `Date`, a `Map` or an instance of another class is not: its members
 * are not what it means, so writing them would lose data.
 */
export function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // `Object.prototype` of another realm
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty');
}

/** The error about the first value, in canonical order, that JSON cannot hold, with its JSON Pointer. */
export function unwritableError(root: unknown): JsonlError {
  const path: (string | number)[] = [];
  const found = findUnwritable(root, path);
  return new JsonlError(
    'invalid_json',
    `Cannot write ${describe(found)} as JSON`,
    path.length === 0 ? {} : { path: jsonPointer(path) },
  );
}

/** Leaves the way to the value in `path`; undefined if there is none but undefined itself. */
function findUnwritable(value: unknown, path: (string | number)[]): unknown {
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) return isWritable(value) ? NOTHING : value;
  const keys = isArray ? value.keys() : Object.keys(value).sort();
  for (const key of keys) {
    path.push(key);
    const found = findUnwritable((value as Record<string | number, unknown>)[key], path);
    if (found !== NOTHING) return found;
    path.pop();
  }
  return NOTHING;
}

const NOTHING: unique symbol = Symbol('nothing');

function isWritable(value: unknown): boolean {
  if (value === null || value instanceof ExactNumber) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint';
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return `a value of type ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an instance of a class';
}
