import type { JsonSchema } from './item-schema.ts';

/** Kinds of JSON values, as bits. An integer here is one that is written without fraction and exponent. */
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

/** What a JSON Schema says about a value, for a reader that looks at one value after another. */
export interface ValueRule {
  /** Bits of the kinds that the value may have. */
  readonly kinds: number;
  /** Rules of an object's members; others may hold anything. */
  readonly members: ReadonlyMap<string, ValueRule>;
  /** Members that an object must have. */
  readonly required: readonly string[];
  /** The rule of an array's items. */
  readonly items: ValueRule | null;
}

/**
 * Turns a JSON Schema into rules. It knows the keywords that `ITEM_SCHEMA` uses and throws for others, so that none
 * is overlooked. A type `integer` allows what is written as one: 1.0 is for the full validator to judge.
 */
export function compileRule(schema: JsonSchema): ValueRule {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN_KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new Error(`No rule is made of the keyword ${unknown}`);
  const { type, properties, required, items } = schema as SchemaParts;
  return {
    kinds:
      type === undefined
        ? ANY_KIND
        : [type].flat().reduce((kinds, name) => kinds | (KIND_BITS[name] ?? 0), 0),
    members: new Map(
      Object.entries(properties ?? {}).flatMap(([name, member]) =>
        member === true ? [] : [[name, compileRule(member)] as const],
      ),
    ),
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
