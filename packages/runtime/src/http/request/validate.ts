import { schemaPredicate } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Route } from '../route.ts';
import { type FieldError, RequestError } from './request-error.ts';

/** Errors in one response. */
const MAX_ERRORS = 100;

/** The compiled schemas of one route. */
export interface RouteValidator {
  query(values: Readonly<Record<string, unknown>>): Record<string, string | number | boolean | undefined>;
  body(value: JsonValue): JsonObject;
}

/** The formats that the schemas of routes use. */
const FORMATS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  uri: true,
  'date-time': true,
  binary: true,
  'int64-text': true,
  // PostgreSQL text holds neither NUL nor half of a surrogate pair: such texts are refused, not changed
  'storable-text': (text: string) => text.isWellFormed() && !text.includes('\u0000'),
} as const;

/** What the formats want, where their name does not say it. */
const FORMAT_RULES: Readonly<Record<string, string>> = {
  'storable-text': 'must hold neither NUL nor half of a surrogate pair',
};

/** Creates the compiler of all routes' schemas. Query values become numbers and booleans; those of bodies stay. */
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

function compileRoute(route: Route, ajv: Ajv2020): RouteValidator {
  const query =
    route.query === undefined
      ? undefined
      : ajv.compile({ type: 'object', properties: route.query, additionalProperties: false });
  const body = route.body === undefined ? undefined : ajv.compile(route.body.schema);
  return {
    query: (values) => {
      const known = route.ignoresQuery === true ? (route.query ?? {}) : values;
      const copy: Record<string, unknown> = Object.fromEntries(
        Object.entries(values).filter(([name]) => Object.hasOwn(known, name)),
      );
      for (const [name, { type }] of Object.entries(route.query ?? {})) {
        const value = copy[name];
        if (typeof value === 'string') copy[name] = typed(value, type);
      }
      if (query !== undefined) check(query, copy, 'query', (error) => fieldName(error));
      else rejectAll(copy);
      return copy as Record<string, string | number | boolean | undefined>;
    },
    body: (value) => {
      if (body === undefined) return {};
      check(body, value, 'body', (error) => pointer(error));
      return value as JsonObject;
    },
  };
}

/** The value of a query as its schema wants it, if it is written so: `Infinity` and `0x10` are texts. */
function typed(value: string, type: unknown): string | number | boolean {
  if (type === 'boolean') return value === 'true' || (value === 'false' ? false : value);
  return type === 'integer' && /^-?\d{1,300}$/.test(value) ? Number(value) : value;
}

/** Rejects every query parameter, for a route without any. */
function rejectAll(values: Readonly<Record<string, unknown>>): void {
  for (const name in values) {
    const message = `${name} is unknown`;
    throw new RequestError('invalid_request', `Invalid query: ${message}.`, {
      errors: [{ message, path: name }],
    });
  }
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

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function pointer(error: ErrorObject): string {
  const name = error.params['missingProperty'] ?? error.params['additionalProperty'];
  return name === undefined ? error.instancePath : `${error.instancePath}/${escapePointer(String(name))}`;
}

const fieldName = (error: ErrorObject): string => pointer(error).slice(1);

function sentence(error: ErrorObject, path: string): string {
  return `${path === '' ? 'the value' : path} ${predicateOf(error)}`;
}

function predicateOf(error: ErrorObject): string {
  const rule = error.keyword === 'format' ? FORMAT_RULES[error.params['format']] : undefined;
  return rule ?? schemaPredicate(error);
}
