import {
  type ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../json/json-value.ts';

/** Item types that the format names; others are allowed. */
export type KnownItemType = 'freeform' | 'multiple_choice' | 'exact' | 'numeric' | 'code';

/** One message of a conversation. */
export interface ItemMessage {
  readonly role: string;
  readonly content: JsonValue;
}

/** Known keys of an item's `inputs`: what the model is given. */
export interface InputKeys {
  readonly prompt?: string;
  /** A conversation instead of one prompt. */
  readonly messages?: (ItemMessage & JsonObject)[];
  readonly system_prompt?: string | null;
  /** The options of a multiple-choice item. */
  readonly choices?: JsonValue[];
}

/** Known keys of an item's `meta`: everything else. */
export interface MetaKeys {
  readonly judge_prompt?: string | null;
}

/** Known keys of an item. All are optional. */
export interface ItemKeys {
  /** The author's id; need not be unique. */
  readonly id?: string | number | ExactNumber;
  /** `freeform` is assumed when absent. */
  readonly type?: KnownItemType | (string & {});
  /** What the model is given. */
  readonly inputs?: JsonObject & InputKeys;
  /** The reference answer: any JSON. */
  readonly answer?: JsonValue;
  /** What a grader looks for. */
  readonly criteria?: (string | JsonObject)[];
  /** How the output is scored. */
  readonly checker?: JsonObject | string | null;
  /** Files and links that belong to the item: entries by name, or a list of entries. */
  readonly assets?: { readonly [name: string]: JsonObject } | JsonObject[];
  /** Everything else. */
  readonly meta?: JsonObject & MetaKeys;
  readonly tags?: string[];
}

/** A normalised item: an object whose known keys have the types of `ITEM_SCHEMA`, with normalised assets. */
export type Item = JsonObject & ItemKeys;

/** Keys beyond the known ones, in a literal. */
type OtherKeys = { readonly [key: string]: unknown };

/** An object of any interface, but no array, `Date`, `Map` or the like. */
type NoClass = object & { readonly [Symbol.iterator]?: never; readonly [Symbol.toPrimitive]?: never };

/** Known keys of what becomes an item. */
export interface ItemInputKeys {
  readonly id?: string | number | bigint | ExactNumber | undefined;
  readonly type?: KnownItemType | (string & {}) | undefined;
  readonly inputs?: (InputsInput & NoClass) | (InputsInput & OtherKeys) | undefined;
  readonly answer?: unknown;
  readonly criteria?: readonly (string | object)[] | undefined;
  readonly checker?: object | string | null | undefined;
  readonly assets?: object | undefined;
  readonly meta?: (MetaInput & NoClass) | (MetaInput & OtherKeys) | undefined;
  readonly tags?: readonly string[] | undefined;
}

interface InputsInput {
  readonly prompt?: string | undefined;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[] | undefined;
  readonly system_prompt?: string | null | undefined;
  readonly choices?: readonly unknown[] | undefined;
}

interface MetaInput {
  readonly judge_prompt?: string | null | undefined;
}

/**
 * What becomes an item: an object with known keys of these types and any others, such as your own interfaces and parsed
 * JSON. Reading an item refuses values that are not plain JSON, `undefined` members included, with their JSON Pointer.
 */
export type ItemInput = ItemInputKeys | (ItemInputKeys & OtherKeys) | JsonObject;

/** A JSON Schema, as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema (2020-12) of an item. No key is required, every other key is allowed at any depth; the known
 * ones have these types. `parseItem` checks by it.
 */
export const ITEM_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'JSONL v2.3 item',
  type: 'object',
  properties: {
    id: { type: ['string', 'integer'], description: "The author's id; need not be unique." },
    type: {
      type: 'string',
      description:
        'freeform (assumed when absent), multiple_choice, exact, numeric, code; others are allowed.',
    },
    inputs: {
      type: 'object',
      description: 'What the model is given.',
      properties: {
        prompt: { type: 'string' },
        messages: {
          type: 'array',
          description: 'A conversation instead of one prompt.',
          items: {
            type: 'object',
            properties: { role: { type: 'string' }, content: true },
            required: ['role', 'content'],
          },
        },
        system_prompt: { type: ['string', 'null'] },
        choices: { type: 'array', description: 'The options of a multiple-choice item.' },
      },
    },
    answer: { description: 'The reference answer: any JSON.' },
    criteria: {
      type: 'array',
      description: 'What a grader looks for.',
      items: { type: ['string', 'object'] },
    },
    checker: { type: ['object', 'string', 'null'], description: 'How the output is scored.' },
    assets: {
      type: ['object', 'array'],
      description: 'Files and links that belong to the item: entries by name, or a list of entries.',
    },
    meta: {
      type: 'object',
      description: 'Everything else.',
      properties: { judge_prompt: { type: ['string', 'null'] } },
    },
    tags: { type: 'array', items: { type: 'string' } },
  },
};

/** Whether an item has a prompt or messages. */
export function hasPrompt(item: JsonObject): boolean {
  const inputs = getMember(item, 'inputs');
  if (!isJsonObject(inputs)) return false;
  const messages = getMember(inputs, 'messages');
  return typeof getMember(inputs, 'prompt') === 'string' || (Array.isArray(messages) && messages.length > 0);
}
