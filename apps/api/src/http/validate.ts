import type { JsonObject, JsonValue } from '@svc/jsonl-v23';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type FieldError, RequestError } from './request-error.ts';
import type { Route, Schema } from './route.ts';

/** At most this many errors stand in one answer. */
const MAX_ERRORS = 100;

/** Compiled checks of one route. */
export interface RouteValidator {
  query(values: Readonly<Record<string, unknown>>): Record<string, string | number | boolean | undefined>;
  body(value: JsonValue): JsonObject;
}

/** The formats that the service's own schemas use; others are for readers of the OpenAPI document. */
const FORMATS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  uri: true,
  'date-time': true,
  binary: true,
  'int64-text': true,
} as const;

/** Compiles the schemas of a route, once, when the app is made. */
export function compileRoute(route: Route): RouteValidator {
  const compile = (schema: Schema, coerceTypes: boolean): ValidateFunction =>
    new Ajv2020({
      allErrors: true,
      strict: true,
      allowUnionTypes: true,
      coerceTypes,
      useDefaults: true,
      formats: FORMATS,
    }).compile(schema);
  const query = compile({ type: 'object', properties: route.query ?? {}, additionalProperties: false }, true);
  const body = route.body === undefined ? undefined : compile(route.body.schema, false);
  return {
    query: (values) => {
      const copy = { ...values };
      check(query, copy, 'query', (error) => fieldName(error));
      return copy as Record<string, string | number | boolean | undefined>;
    },
    body: (value) => {
      if (body === undefined) return {};
      check(body, value, 'body', (error) => pointer(error));
      return value as JsonObject;
    },
  };
}

function check(
  validate: ValidateFunction,
  value: unknown,
  where: string,
  path: (error: ErrorObject) => string,
): void {
  if (validate(value)) return;
  const errors = (validate.errors ?? []).map((error): FieldError => {
    return { message: sentence(error, path(error)), path: path(error) };
  });
  throw new RequestError('invalid_request', `the ${where} is not valid: ${errors[0]?.message}`, {
    errors: errors.slice(0, MAX_ERRORS),
  });
}

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function pointer(error: ErrorObject): string {
  const name = error.params['missingProperty'] ?? error.params['additionalProperty'];
  return name === undefined ? error.instancePath : `${error.instancePath}/${escapePointer(String(name))}`;
}

const fieldName = (error: ErrorObject): string => pointer(error).slice(1);

function sentence(error: ErrorObject, path: string): string {
  const subject = path === '' ? 'the value' : path;
  switch (error.keyword) {
    case 'required':
      return `${subject} is missing`;
    case 'additionalProperties':
      return `${subject} is not known`;
    case 'enum':
      return `${subject} must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
    case 'pattern':
      return `${subject} has a form that is not allowed`;
    default:
      return `${subject} ${error.message}`;
  }
}
