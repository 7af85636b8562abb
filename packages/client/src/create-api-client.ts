import { tryParseJson } from '@svc/jsonl-v23/json';
import createClient, { type Client, type ClientOptions as FetchOptions } from 'openapi-fetch';
import type { paths as Paths } from './generated/openapi.ts';

/** A client whose paths, parameters, bodies and responses are those of the API's OpenAPI document. */
export type ApiClient = Client<Paths>;

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`; in its own pages, the origin of the page. */
  readonly baseUrl?: string;
  /** A key of the service, which each request sends; pages use a session instead. */
  readonly key?: string | undefined;
  /** By default the global `fetch`. */
  readonly fetch?: NonNullable<FetchOptions['fetch']>;
}

/**
 * Creates a client of the API. A response other than 2xx is its `error`, typed as the problem that the API sends, and so is
 * a response that is not JSON, unless `parseAs` asks for something else. Numbers that JavaScript would round are
 * `ExactNumber`s of `@svc/jsonl-v23`.
 */
export function createApiClient({ baseUrl = '', key, fetch }: ClientOptions = {}): ApiClient {
  const client = createClient<Paths>({
    baseUrl,
    ...(fetch === undefined ? {} : { fetch }),
    ...(key ? { headers: { Authorization: `Bearer ${key}` } } : {}),
  });
  const exact = METHODS.map((method) => [method, withExactNumbers(client[method] as Send)]);
  return { ...client, ...Object.fromEntries(exact) };
}

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const;

interface Reply {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** A method of the client, without the types of the paths. */
type Send = (path: string, options?: { readonly parseAs?: string }) => Promise<Reply>;

/** The method with JSON read by `parseJson`. The client itself would read it by `JSON.parse`. */
function withExactNumbers(send: Send): Send {
  return async (path, options) => {
    const { parseAs = 'json' } = options ?? {};
    if (parseAs !== 'json') return await send(path, options);
    const reply = await send(path, { ...options, parseAs: 'text' });
    if (typeof reply.data !== 'string' || reply.data === '') return reply;
    const data = tryParseJson(reply.data);
    return data === undefined ? { error: reply.data, response: reply.response } : { ...reply, data };
  };
}

/** The JSON body of a successful response: `ResponseOf<'/datasets', 'get'>`. */
export type ResponseOf<
  Path extends keyof Paths,
  Method extends keyof Paths[Path],
  Status extends number = 200,
> = Paths[Path][Method] extends { readonly responses: infer Responses }
  ? Status extends keyof Responses
    ? Responses[Status] extends { readonly content: { readonly 'application/json': infer Body } }
      ? Body
      : never
    : never
  : never;

/** The JSON body of a request: `BodyOf<'/runs'>`. */
export type BodyOf<Path extends keyof Paths> = Paths[Path] extends {
  readonly post: { readonly requestBody: { readonly content: { readonly 'application/json': infer Body } } };
}
  ? Body
  : never;
