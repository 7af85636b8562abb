import { toHex } from '#native';
import type { JsonObject, JsonValue } from '../json/index.ts';

export interface ScorerScore {
  /** 0 to 1; null without a score. */
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly explanation: string | null;
  /** What gave the score; null without one. */
  readonly scored_by: 'checker' | 'judge' | 'client' | 'label' | null;
  /** Why there is no score; absent without an error. */
  readonly error?: { readonly code: string; readonly message: string };
}

export type Scores = Readonly<Record<string, ScorerScore>>;

/** Values by kind. A large JSON value may be `Text` instead. */
interface KindValues<Text> {
  /** Text without NUL, which a database stores as it is. */
  readonly text: string;
  /** 1 to 255 characters without control characters. */
  readonly title: string;
  /** Letters, digits, `_`, `.` and `-`: at most 64. */
  readonly name: string;
  readonly word: string;
  readonly integer: number;
  /** An integer that may exceed 32 bits. */
  readonly count: number;
  readonly number: number;
  readonly boolean: boolean;
  /** 32 bytes; 64 hex digits on the wire. */
  readonly hash: Uint8Array;
  /** 64 hex digits. */
  readonly digest: string;
  readonly uuid: string;
  readonly time: Date;
  /** The id of an item: a string or an integer. */
  readonly id: JsonValue;
  readonly string: string;
  /** Any text that may be large. */
  readonly long_string: string | Text;
  readonly json: JsonValue | Text;
  readonly object: JsonObject | Text;
  readonly names: readonly string[];
  readonly scores: Scores | Text;
  /** `provider_message` is what the provider says about it. */
  readonly failure: { readonly code: string; readonly message: string; readonly provider_message?: string };
}

/** What a field holds. Each layer states what it does with a kind once, for all fields. */
export type FieldKind = keyof KindValues<never>;

const JSON_KINDS = ['id', 'string', 'long_string', 'json', 'object', 'names', 'scores', 'failure'] as const;
type JsonKind = (typeof JSON_KINDS)[number];

export interface Field {
  /** In packages, tables, the API and the database. */
  readonly wire: string;
  readonly kind: FieldKind;
  readonly isRequired?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly values?: readonly string[];
  readonly description?: string;
}

/** What packages, tables, the API and the database call a field: `item_id` for `itemId`. */
type Wire<Name> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${Wire<Rest>}`
  : '';

export type NamedFields<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] & { readonly name: Name; readonly wire: Wire<Name> };
};

export function nameFields<Fields extends Readonly<Record<string, Omit<Field, 'wire'>>>>(
  fields: Fields,
): NamedFields<Fields> {
  const named = Object.entries(fields).map(([name, field]) => {
    const wire = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, { ...field, name, wire }];
  });
  return Object.fromEntries(named) as NamedFields<Fields>;
}

export type FieldValue<F extends Field, Text = never> =
  | (F extends { readonly values: readonly (infer Word)[] } ? Word : KindValues<Text>[F['kind']])
  | (F extends { readonly isRequired: true } ? never : null);

/** The value of a field as it is stored: JSON is its text. */
export type FieldText<F extends Field, Bytes = never> = F['kind'] extends JsonKind
  ? string | Bytes | (F extends { readonly isRequired: true } ? never : null)
  : FieldValue<F>;

export function isJsonField({ kind }: Field): boolean {
  return JSON_KINDS.some((json) => json === kind);
}

/** The value of a field that is not JSON, as JSON has it. */
export function wireValue(value: string | number | boolean | Date | Uint8Array | null): JsonValue {
  if (value instanceof Uint8Array) return toHex(value);
  return value instanceof Date ? value.toISOString() : value;
}
