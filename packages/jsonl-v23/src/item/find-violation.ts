import { describeValue } from '../json/describe-value.ts';
import { ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { jsonPointer } from '../source-location.ts';
import { KIND, type ValueRule } from './value-rule.ts';

/** A value that breaks a rule, and its location. */
export interface Violation {
  /** JSON Pointer from the value that was checked. */
  readonly path: string;
  /** Such as `must be string, got null`. */
  readonly problem: string;
}

/** The first violation of a rule in a value; null if there is none. */
export function findViolation(value: JsonValue, rule: ValueRule): Violation | null {
  if ((rule.kinds & kindOf(value)) === 0) {
    return { path: '', problem: `must be ${rule.expected}, got ${describeValue(value)}` };
  }
  if (Array.isArray(value)) return rule.items === null ? null : findInItems(value, rule.items);
  return rule.names.length + rule.required.length === 0 ? null : findInMembers(value as JsonObject, rule);
}

function findInItems(items: readonly JsonValue[], rule: ValueRule): Violation | null {
  for (let index = 0; index < items.length; index++) {
    const found = findViolation(items[index] as JsonValue, rule);
    if (found !== null) return below(index, found);
  }
  return null;
}

function findInMembers(object: JsonObject, rule: ValueRule): Violation | null {
  for (const name of rule.required) {
    if (object[name] === undefined) return { path: '', problem: `must have the key "${name}"` };
  }
  for (let index = 0; index < rule.names.length; index++) {
    const name = rule.names[index] as string;
    const member = object[name];
    if (member === undefined) continue;
    const found = findViolation(member, rule.rules[index] as ValueRule);
    if (found !== null) return below(name, found);
  }
  return null;
}

function below(step: string | number, { path, problem }: Violation): Violation {
  return { path: jsonPointer([step]) + path, problem };
}

/** JSON Schema section 6.1.1: an integer is a number without a fraction, however it is written. */
function kindOf(value: JsonValue): number {
  switch (typeof value) {
    case 'string':
      return KIND.string;
    case 'number':
      return Number.isInteger(value) ? KIND.integer : KIND.number;
    case 'boolean':
      return KIND.boolean;
    case 'object':
      if (value === null) return KIND.null;
      if (Array.isArray(value)) return KIND.array;
      if (value instanceof ExactNumber) return value.text.includes('.') ? KIND.number : KIND.integer;
      return KIND.object;
    default:
      return 0; // not JSON
  }
}
