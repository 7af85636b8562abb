import createClient, { type Client, type ClientOptions as FetchOptions } from 'openapi-fetch';
import type { paths as Paths } from './generated/openapi.ts';

/** A client whose paths, parameters, bodies and responses are those of the API's OpenAPI document. */
export type ApiClient = Client<Paths>;

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`; in its own pages, the origin of the page. */
  readonly baseUrl?: string;
  /** A key of the service, which each request sends; pages use a session instead. */
  readonly key?: string;
  /** By default the global `fetch`. */
  readonly fetch?: NonNullable<FetchOptions['fetch']>;
}

/** Creates a client of the API. A response other than 2xx is its `error`, typed as the problem that the API sends. */
export function createApiClient({ baseUrl = '', key, fetch }: ClientOptions = {}): ApiClient {
  return createClient<Paths>({
    baseUrl,
    ...(fetch === undefined ? {} : { fetch }),
    ...(key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } }),
  });
}
