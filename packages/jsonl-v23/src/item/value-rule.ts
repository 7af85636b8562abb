import { typePhrase } from '../json/type-phrase.ts';
import type { JsonSchema } from './item-schema.ts';

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

/** What a JSON Schema says about a value. */
export interface ValueRule {
  /** Bits of the kinds that the value may have. */
  readonly kinds: number;
  /** The kinds in words: `a string or null`. */
  readonly expected: string;
  /** Rules of an object's members; others may hold anything. */
  readonly members: ReadonlyMap<string, ValueRule>;
  /** Members that an object must have. */
  readonly required: readonly string[];
  /** The rule of an array's items. */
  readonly items: ValueRule | null;
}

/**
 * Turns a JSON Schema into rules. It knows the keywords that `ITEM_SCHEMA` uses and throws for others, so that none is
 * ignored.
 */
export function compileRule(schema: JsonSchema): ValueRule {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN_KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new Error(`Unsupported JSON Schema keyword: ${unknown}`);
  const { type, properties, required, items } = schema as SchemaParts;
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

const KNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  'title',
  'description',
  'type',
  'properties',
  'required',
  'items',
]);

const KIND_BITS: Readonly<Record<string, number>> = { ...KIND, number: KIND.integer | KIND.number };
