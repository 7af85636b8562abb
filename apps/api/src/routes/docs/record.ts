import { wireValue } from '@svc/jsonl-v23/internal';
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
