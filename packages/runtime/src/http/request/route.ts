import type { JsonObject } from '@svc/jsonl-v23/json';
import type { Request } from 'express';
import type { StreamKind } from '../access/stream-permits.ts';
import type { Answer } from '../response/response.ts';

/** Who may call a route; `public` asks for no key, `metrics` for the metrics key. */
export type Access = 'public' | 'metrics' | 'viewer' | 'editor' | 'admin';

/** A JSON Schema (2020-12), as ajv validates with it and OpenAPI 3.1 prints it. */
export type Schema = { readonly [keyword: string]: unknown };

/** A request whose parts have passed the schemas of its route. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  /** the JSON body, every digit kept; null where the route takes none */
  readonly body: JsonObject | null;
  readonly header: (name: string) => string | undefined;
  /** aborts when the client goes away or the service is forced to stop */
  readonly signal: AbortSignal;
  /** for routes that read the body themselves */
  readonly raw: Request;
}

/** One endpoint: what it is, what it takes, what it answers. OpenAPI is made from these values. */
export interface Route {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** as in OpenAPI: `/datasets/{id}` */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: Access;
  /** properties of the query; others are errors */
  readonly query?: Readonly<Record<string, Schema>>;
  /** headers that the handler reads, for the document */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** a JSON body, or a form that the handler reads */
  readonly body?: {
    readonly contentType: string;
    readonly schema: Schema;
    /** the schema as the document shows it, where the handler checks a part by itself */
    readonly documented?: Schema;
  };
  /** media type of the successful answer */
  readonly produces: string;
  /** status → what it means, and its schema where it is JSON */
  readonly responses: Readonly<Record<number, { readonly description: string; readonly schema?: Schema }>>;
  /** where the answer is a stream: what bounds how many a client may have */
  readonly streams?: StreamKind;
  /** the codes that this route may answer with, beside those that any route may */
  readonly errors: readonly string[];
  readonly handle: (request: RouteRequest) => Promise<Answer>;
}
