import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import type { Request } from 'express';
import type { Access, Caller } from './access/authenticate.ts';
import type { StreamKind } from './access/limits.ts';
import type { RouteResponse } from './response/response.ts';

/** A JSON Schema (2020-12), for ajv and for the OpenAPI 3.1 document. `x-rule` says a `pattern` in words, for errors. */
export type Schema = { readonly [keyword: string]: unknown };

/** A query parameter: a list of repeated parameters, or an object of parameters whose names begin alike. */
export type QueryValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, string>>
  | undefined;

/** A request that matches the schemas of its route. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, QueryValue>>;
  /** The JSON body with every digit kept; empty for a route without one. */
  readonly body: JsonObject;
  readonly header: (name: string) => string | undefined;
  /** Names the client for limits: its key, else its network. */
  readonly client: string;
  readonly caller: Caller;
  readonly isSecure: boolean;
  /** The origins under which the client may know the service, such as `https://datasets.example.org`. */
  readonly origins: readonly string[];
  /** Identifies a caller by a key in the body. Wrong keys count like wrong keys in headers. */
  readonly identify: (key: string) => Caller;
  /** Aborts when the client disconnects or the service is forced to stop. */
  readonly signal: AbortSignal;
  /** For routes that read the body themselves. */
  readonly raw: Request;
}

/** @throws JsonlError as `parseJson`; `invalid_utf8` */
export type ParseBody = (
  bytes: Uint8Array<ArrayBuffer>,
  maxDepth: number,
  signal: AbortSignal,
) => Promise<JsonValue>;

/** One endpoint, as data: the OpenAPI document is generated from it. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As in OpenAPI: `/datasets/{id}`. A last parameter `{+path}` takes the rest of the path, with its slashes. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  /** Log lines of its requests do not name the caller. */
  readonly isAnonymous?: true;
  /**
   * Query parameters; any other is an error. One of type `array` may be repeated; one of type `object` has the parameters
   * whose names begin with its name and a dot, under their whole names.
   */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Ignores parameters that `query` lacks: a page's script reads them, or a client sends more than it needs. */
  readonly ignoresQuery?: true;
  /** Headers that the handler reads, for the document. */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** A JSON body, or a form that the handler reads. */
  readonly body?: {
    readonly contentType: string;
    readonly schema: Schema;
    /** A form is taken as the object of its fields; repeated ones are arrays. */
    readonly acceptsForm?: true;
    /** Longest JSON body, if it differs from the configuration. */
    readonly maxBytes?: number;
    /** Most JSON values of a body, if it differs from other bodies: for a body that `parse` bounds. */
    readonly maxValues?: number;
    /** Parses long JSON bodies, and takes their bytes over. By default the body is parsed on the main thread. */
    readonly parse?: ParseBody;
    /** The schema for the document, if the handler validates a part itself. */
    readonly documented?: Schema;
  };
  // The media range of all types would end a block comment.
  // Media type of the successful response, JSON by default, or `*/*` where each has its own, whatever the client accepts.
  readonly produces?: string;
  /** Status → description, and the schema of a JSON body. */
  readonly responses: Readonly<Record<number, { readonly description: string; readonly schema?: Schema }>>;
  /** For a streamed response: which limit per client applies. */
  readonly streams?: StreamKind;
  /** Error codes of this route, in addition to those that follow from its path, query, headers and body. */
  readonly errors?: readonly string[];
  readonly handle: (request: RouteRequest) => Promise<RouteResponse>;
}

/** The responses of a route that always responds with 200. */
export const ok = (description: string, schema: Schema): Route['responses'] => ({
  200: { description, schema },
});

/** The schema of a value that may be null. The schema stays the same object, so that the document refers to it by name. */
export function orNull(schema: Schema, description: string): Schema {
  return { anyOf: [schema, { type: 'null' }], description };
}

/** The schema of an object whose members are required, except for the optional ones. */
export function shape(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  };
}

/** The JSON body of a request: an object with these members and no others. @param documented of the members for the document */
export function jsonBody(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  documented?: Readonly<Record<string, Schema>>,
): NonNullable<Route['body']> {
  const closed = (members: Readonly<Record<string, Schema>>): Schema => ({
    type: 'object',
    properties: members,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  });
  return {
    contentType: 'application/json',
    schema: closed(properties),
    ...(documented === undefined ? {} : { documented: closed(documented) }),
  };
}
