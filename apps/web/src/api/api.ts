import { createApiClient, type Paths, type ResponseOf } from '@svc/client';
import { dataOf } from './api-problem.ts';

/** The client of the API, which is where the page comes from. */
export const api = createApiClient();

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

export type PathOf<Of extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends { readonly [M in Of]: { readonly parameters: unknown } }
    ? Path
    : never;
}[keyof Paths];

export type ParamsOf<Path extends keyof Paths, Of extends Method> = Paths[Path][Of] extends {
  readonly parameters: infer Params;
}
  ? Params
  : never;

export type SentTo<Path extends keyof Paths, Of extends Method> = Paths[Path][Of] extends {
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
): Promise<Received<Path, 'get'>> =>
  dataOf(api.GET(path as '/session', { params, ...(signal !== undefined && { signal }) } as never)) as never;
