import { typePhrase } from '../json/describe.ts';
import { describeValue, ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { jsonPointer } from '../source-location.ts';
import type { JsonSchema } from './item.ts';

/** Kinds of JSON values, as bits. `number` is a number that is not an integer. */
export const KIND = {
  string: 1,
  integer: 2,
  number: 4,
  boolean: 8,
  null: 16,
  array: 32,
  object: 64,
} as const;

const ANY_KIND = 127;

export interface ValueRule {
  /** Bits of the kinds that the value may have. */
  readonly kinds: number;
  /** The kinds in words: `a string or null`. */
  readonly expected: string;
  /** Rules of an object's members; others may hold anything. */
  readonly members: ReadonlyMap<string, ValueRule>;
  readonly required: readonly string[];
  readonly items: ValueRule | null;
}

/** Turns a JSON Schema into rules; throws for keywords that `ITEM_SCHEMA` does not use, so that none is ignored. */
export function compileRule(schema: JsonSchema): ValueRule {
  const { $schema, title, description, ...rules } = schema;
  const { type, properties, required, items, ...others } = rules as SchemaParts;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`Unsupported JSON Schema keyword: ${unknown}`);
  const members = Object.entries(properties ?? {}).flatMap(([name, member]) =>
    member === true ? [] : [[name, compileRule(member)] as const],
  );
  return {
    kinds:
      type === undefined
        ? ANY_KIND
        : [type].flat().reduce((kinds, name) => kinds | (KIND_BITS[name] ?? 0), 0),
    expected: typePhrase([type ?? []].flat()),
    members: new Map(members),
    required: required ?? [],
    items: items === undefined ? null : compileRule(items),
  };
}

interface SchemaParts {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema | true>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
}

const KIND_BITS: Readonly<Record<string, number>> = { ...KIND, number: KIND.integer | KIND.number };

export interface Violation {
  /** JSON Pointer from the value that was checked. */
  readonly path: string;
  /** Such as `must be a string, got null`. */
  readonly problem: string;
}

/** The first violations of a rule in a value, in the order of the rule and of arrays. */
export function findViolations(root: JsonValue, rootRule: ValueRule, max: number): Violation[] {
  if (isValid(root, rootRule)) return [];
  const found: Violation[] = [];
  const path: (string | number)[] = [];
  const report = (problem: string): void => {
    if (found.length < max) found.push({ path: jsonPointer(path), problem });
  };
  const check = (value: JsonValue, rule: ValueRule): void => {
    if (found.length === max) return;
    if ((rule.kinds & kindOf(value)) === 0) {
      report(`must be ${rule.expected}, got ${describeValue(value)}`);
    } else if (Array.isArray(value)) {
      const { items } = rule;
      if (items !== null)
        for (let index = 0; index < value.length; index++) checkAt(index, value[index], items);
    } else if (rule.members.size + rule.required.length > 0) {
      const object = value as JsonObject;
      for (const name of rule.required) {
        if (object[name] === undefined) report(`must have the key "${name}"`);
      }
      for (const [name, of] of rule.members) if (object[name] !== undefined) checkAt(name, object[name], of);
    }
  };
  const checkAt = (step: string | number, value: JsonValue | undefined, rule: ValueRule): void => {
    path.push(step);
    check(value as JsonValue, rule);
    path.pop();
  };
  check(root, rootRule);
  return found;
}

/** Whether there is no violation: nearly always, so that nothing is made on the way. */
function isValid(value: JsonValue, rule: ValueRule): boolean {
  if ((rule.kinds & kindOf(value)) === 0) return false;
  const { items, members, required } = rule;
  if (Array.isArray(value)) return items === null || value.every((item) => isValid(item, items));
  if (members.size + required.length === 0) return true;
  const object = value as JsonObject;
  for (const name of required) if (object[name] === undefined) return false;
  for (const name in object) {
    const of = members.get(name);
    if (of !== undefined && !isValid(object[name] as JsonValue, of)) return false;
  }
  return true;
}

/** JSON Schema section 6.1.1: an integer is a number without a fraction, however it is written. */
function kindOf(value: JsonValue): number {
  switch (typeof value) {
    case 'string':
      return KIND.string;
    case 'number':
      return Number.isInteger(value) ? KIND.integer : KIND.number;
    case 'bigint':
      return KIND.integer;
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
