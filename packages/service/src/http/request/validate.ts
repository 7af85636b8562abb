import { type JsonObject, type JsonValue, jsonPointer, schemaPredicate } from '@svc/jsonl-v23/json';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { QueryValue, Route, Schema } from '../route.ts';
import { type FieldError, invalidMember, RequestError } from './request-error.ts';

const MAX_ERRORS = 100;

export type RouteValidator = ReturnType<typeof compileRoute>;

const FORMATS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  uri: true,
  'date-time': true,
  binary: true,
  'int64-text': true,
  // PostgreSQL text holds neither NUL nor half of a surrogate pair: such texts are refused, not changed
  'storable-text': (text: string) => text.isWellFormed() && !text.includes('\u0000'),
} as const;

/** The meaning of the formats whose names do not say it. */
const FORMAT_RULES: Readonly<Record<string, string>> = {
  'storable-text': 'must hold neither NUL nor half of a surrogate pair',
};

/** Creates the compiler of all routes' schemas. Query values become numbers and booleans; values of bodies stay. */
export function createRouteCompiler(): (route: Route) => RouteValidator {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    useDefaults: true,
    formats: FORMATS,
    verbose: true,
  });
  ajv.addVocabulary(['x-rule']);
  return (route) => compileRoute(route, ajv);
}

/** Schemas are compiled when a route is first requested: together they would delay each start by a sixth of a second. */
function compileRoute(route: Route, ajv: Ajv2020) {
  let query: ValidateFunction | undefined;
  let body: ValidateFunction | undefined;
  return {
    query: (values: Readonly<Record<string, unknown>>): Record<string, QueryValue> => {
      const schemas = route.query ?? {};
      const copy = typedQuery(values, schemas);
      if (route.ignoresQuery === true)
        for (const name in copy) if (!Object.hasOwn(schemas, name)) delete copy[name];
      if (route.query === undefined) rejectAll(copy);
      else {
        query ??= ajv.compile({ type: 'object', properties: schemas, additionalProperties: false });
        check(query, copy, 'query', (error) => fieldName(error));
      }
      return copy as Record<string, QueryValue>;
    },
    body: (value: JsonValue): JsonObject => {
      if (route.body === undefined) return {};
      body ??= ajv.compile(route.body.schema);
      check(body, value, 'body', (error) => pointer(error));
      return value as JsonObject;
    },
  };
}

/** The values of a query as their schemas want them. An object has the parameters whose names begin with its own and a dot. */
function typedQuery(values: Readonly<Record<string, unknown>>, schemas: Readonly<Record<string, Schema>>) {
  const copy: Record<string, unknown> = { ...values };
  for (const [name, { type }] of Object.entries(schemas)) {
    if (type === 'object') {
      const members = Object.entries(copy).filter(([other]) => other.startsWith(`${name}.`));
      for (const [other] of members) delete copy[other];
      if (members.length > 0) copy[name] = Object.fromEntries(members);
      continue;
    }
    const value = copy[name];
    if (typeof value === 'string') copy[name] = type === 'array' ? [value] : typed(value, type);
  }
  return copy;
}

/** The value of a query as its schema wants it, if it is written so: `Infinity` and `0x10` are texts. */
function typed(value: string, type: unknown): string | number | boolean {
  if (type === 'boolean') return value === 'true' || (value === 'false' ? false : value);
  if (type === 'number')
    return /^-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/.test(value) ? Number(value) : value;
  return type === 'integer' && /^-?\d{1,300}$/.test(value) ? Number(value) : value;
}

function rejectAll(values: Readonly<Record<string, unknown>>): void {
  for (const name in values) throw invalidMember('query', name, 'is unknown');
}

function check(
  validate: ValidateFunction,
  value: unknown,
  where: string,
  path: (error: ErrorObject) => string,
): void {
  if (validate(value)) return;
  const errors = (validate.errors ?? []).slice(0, MAX_ERRORS).map((error): FieldError => {
    return { message: sentence(error, path(error)), path: path(error) };
  });
  throw new RequestError('invalid_request', `Invalid ${where}: ${errors[0]?.message}.`, {
    errors,
  });
}

function pointer(error: ErrorObject): string {
  const name = error.params['missingProperty'] ?? error.params['additionalProperty'];
  return name === undefined ? error.instancePath : `${error.instancePath}${jsonPointer([String(name)])}`;
}

const fieldName = (error: ErrorObject): string => pointer(error).slice(1);

function sentence(error: ErrorObject, path: string): string {
  return `${path === '' ? 'the value' : path} ${predicateOf(error)}`;
}

function predicateOf(error: ErrorObject): string {
  const rule = error.keyword === 'format' ? FORMAT_RULES[error.params['format']] : undefined;
  return rule ?? schemaPredicate(error);
}
