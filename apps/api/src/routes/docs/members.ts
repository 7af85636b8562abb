import { type Field, type FieldKind, isJsonField, wireValue } from '@svc/jsonl-v23/internal';
import { type JsonBody, JsonText, type Schema, shape } from '@svc/service';

/** A name as the API has it: `order_index` for `orderIndex`. */
type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : '';

/** A member that is not written as it is. */
export interface ApiMember<Value> {
  readonly schema: Schema;
  toBody(value: Value): JsonBody;
}

/** A record of the API, which can be a member of another one. */
export interface ApiRecord<T> extends ApiMember<T> {
  /** The members of its schema. */
  readonly members: Readonly<Record<string, Schema>>;
  toBody(value: T): Record<string, JsonBody>;
}

type Members<T> = {
  readonly [Name in keyof T & string as WireName<Name>]?: Schema | ApiMember<T[Name]>;
};

/** States a record once: the members of its schema are those of `T`, whose names the API spells in snake case. */
export function record<T extends object>(members: Members<T>): ApiRecord<T> {
  const stated = Object.entries<Schema | ApiMember<unknown>>(members as never).map(([wire, member]) => ({
    wire,
    name: wire.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as keyof T,
    ...(isMember(member) ? member : { schema: member, toBody: plainBody }),
  }));
  const schemas = Object.fromEntries(stated.map(({ wire, schema }) => [wire, schema]));
  return {
    members: schemas,
    schema: shape(schemas),
    toBody: (value) =>
      Object.fromEntries(stated.map(({ wire, name, toBody }) => [wire, toBody(value[name])])),
  };
}

function isMember(member: Schema | ApiMember<unknown>): member is ApiMember<unknown> {
  return typeof (member as Partial<ApiMember<unknown>>).toBody === 'function';
}

const plainBody = (value: unknown): JsonBody =>
  value instanceof Uint8Array ? (wireValue(value) as string) : (value as JsonBody);

/** A member that is stored as JSON text, which is sent as it is. */
export function storedJson(schema: Schema): ApiMember<string | null> {
  return { schema, toBody: (text) => (text === null ? null : new JsonText(text)) };
}

/** A list of records. @param schema of the array */
export function listOf<T>({ toBody }: ApiRecord<T>, schema: Schema): ApiMember<readonly T[]> {
  return { schema, toBody: (list) => list.map(toBody) };
}

/** Schemas of single values. */

export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const COUNT_OR_NULL: Schema = { type: ['integer', 'null'], minimum: 0 };
/** A number that counts from 1. */
export const POSITIVE: Schema = { type: 'integer', minimum: 1 };
export const NUMBER_OR_NULL: Schema = { type: ['number', 'null'] };
export const TEXT: Schema = { type: 'string' };
export const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
export const TIME: Schema = { type: 'string', format: 'date-time' };
export const TIME_OR_NULL: Schema = { type: ['string', 'null'], format: 'date-time' };
export const UUID: Schema = { type: 'string', format: 'uuid' };
export const SHA256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
/** A hash that a request names. */
export const STATED_HASH: Schema = { ...SHA256, 'x-rule': 'must be 64 hexadecimal digits in lower case' };
/** The `id` of an item. */
export const ITEM_ID: Schema = { type: ['string', 'integer', 'null'] };

const SCHEMAS: Readonly<Record<FieldKind, Schema>> = {
  text: TEXT,
  title: TEXT,
  name: TEXT,
  word: TEXT,
  integer: { type: 'integer' },
  count: COUNT,
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  hash: SHA256,
  digest: SHA256,
  uuid: UUID,
  time: TIME,
  id: { type: ['string', 'integer'] },
  string: TEXT,
  long_string: TEXT,
  json: {},
  object: { type: 'object' },
  names: { type: 'array', items: { type: 'string' } },
  scores: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: {
        score: { type: ['number', 'null'], minimum: 0, maximum: 1 },
        passed: { type: ['boolean', 'null'] },
        explanation: { type: ['string', 'null'] },
        scored_by: { type: ['string', 'null'], enum: ['checker', 'judge', 'client', 'label', null] },
        error: {
          type: 'object',
          properties: { code: { type: 'string' }, message: { type: 'string' } },
          description: 'why there is no score',
        },
      },
      required: ['score', 'passed', 'explanation', 'scored_by'],
    },
  },
  failure: {
    type: 'object',
    properties: {
      code: { type: 'string' },
      message: { type: 'string' },
      provider_message: {
        type: 'string',
        maxLength: 500,
        description: 'message of the provider, without secrets; absent if there is none',
      },
    },
  },
};

/** The schema of a field. */
export function fieldSchema(field: Field): Schema {
  const { type, ...others } = SCHEMAS[field.kind];
  const { isRequired = false, values, minimum, maximum, description } = field;
  return {
    ...(type === undefined ? {} : { type: isRequired ? type : [type, 'null'].flat() }),
    ...others,
    ...(values === undefined ? {} : { enum: values }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(description === undefined ? {} : { description }),
  };
}

/** The value of a field in a body; stored JSON text is sent as it is. */
export function fieldBody(field: Field, value: Parameters<typeof wireValue>[0]): JsonBody {
  if (isJsonField(field)) return value === null ? null : new JsonText(value as string);
  return wireValue(value) as JsonBody;
}
