import { createApiClient, type Paths, type ResponseOf } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
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
 * What the API has.
 *
 * @throws as `dataOf`
 */
export const get = <Path extends PathOf<'get'>>(
  path: Path,
  params: ParamsOf<Path, 'get'>,
  signal?: AbortSignal,
): Promise<Received<Path, 'get'>> => send('get', path, params, undefined as never, signal);

/**
 * Sends a body, numbers with every digit.
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
  const sent = body === undefined ? {} : { body, bodySerializer: canonicalJson };
  return await dataOf(request(path, { params, ...sent, ...(signal !== undefined && { signal }) }));
}
