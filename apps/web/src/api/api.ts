import { createApiClient, type Paths, type ResponseOf } from '@svc/client';
import { canonicalJson, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { dataOf } from './api-problem.ts';

/** The client of the API, which is where the page comes from. */
export const api = createApiClient();

type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

type PathOf<Of extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends { readonly [M in Of]: { readonly parameters: unknown } }
    ? Path
    : never;
}[keyof Paths];

export type ParamsOf<Path extends keyof Paths, Of extends Method> = Paths[Path][Of] extends {
  readonly parameters: infer Params;
}
  ? Params
  : never;

type SentTo<Path extends keyof Paths, Of extends Method> = Paths[Path][Of] extends {
  readonly requestBody?: { readonly content: { readonly 'application/json': infer Body } };
}
  ? Body
  : undefined;

export type Received<Path extends keyof Paths, Of extends Method> = ResponseOf<Path, Of, 200 | 201 | 202>;

/**
 * Sends a request, numbers of its body with every digit.
 *
 * @returns the response
 * @throws as `dataOf`
 */
export async function send<Of extends Method, Path extends PathOf<Of>>(
  method: Of,
  path: Path,
  params: ParamsOf<Path, Of>,
  body?: SentTo<Path, Of>,
  signal?: AbortSignal,
): Promise<Received<Path, Of>> {
  const request = api[method.toUpperCase() as 'GET'] as (path: Path, init: object) => Promise<never>;
  const sent = body === undefined ? {} : { body, bodySerializer: bodyText };
  return await dataOf(request(path, { params, ...sent, ...(signal !== undefined && { signal }) }));
}

/**
 * What the API has.
 *
 * @throws as `dataOf`
 */
export const get = <Path extends PathOf<'get'>>(
  path: Path,
  params: ParamsOf<Path, 'get'>,
  signal?: AbortSignal,
): Promise<Received<Path, 'get'>> => send('get', path, params, undefined, signal);

/** The same as a query that is kept under a key. */
export const apiQuery = <Path extends PathOf<'get'>>(
  queryKey: readonly unknown[],
  path: Path,
  params: ParamsOf<Path, 'get'>,
) => ({
  queryKey,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => get(path, params, signal),
});

const bodyText = (body: unknown): string => canonicalJson(withoutUndefined(body as JsonValue));

/** A value as JSON has it: members that are undefined are left out. */
function withoutUndefined(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isJsonObject(value)) return value;
  const stated = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(stated.map(([name, member]) => [name, withoutUndefined(member)]));
}
