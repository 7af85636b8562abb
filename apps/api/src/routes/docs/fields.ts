import { type Field, type FieldKind, isJsonField, wireValue } from '@svc/jsonl-v23/internal';
import { type JsonBody, JsonText, type Schema } from '@svc/service';
import { COUNT, SHA256, TEXT, TIME, UUID } from './scalars.ts';

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
