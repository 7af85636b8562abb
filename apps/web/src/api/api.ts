import { createApiClient, type Paths, type ResponseOf } from '@svc/client';
import { canonicalJson, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';

export type Problem = Paths['/datasets']['get']['responses']['default']['content']['application/json'];

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }
}

export const isRefusal = (error: unknown, status: number): boolean =>
  error instanceof ApiProblem && error.status === status;

export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

interface Reply<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of a successful response. @throws ApiProblem for an error response; ConnectionLost without a response */
export async function dataOf<Data>(reply: Promise<Reply<Data>>): Promise<Data> {
  const { data, error, response } = await reply.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ConnectionLost('The service does not respond.', { cause });
  });
  if (response.ok && error === undefined) return data as Data;
  throw refusal(error, response);
}

/** The response to a request that the client of the API cannot make, such as for a stream. @throws as `dataOf` */
export async function fetchOk(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, { signal }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    throw new ConnectionLost('The service does not respond.', { cause });
  });
  return await accepted(response);
}

/** A response that is no error. @throws as `dataOf` */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw refusal(await response.json().catch(() => undefined), response);
}

/** What a proxy answers while the service is away. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

function refusal(body: unknown, response: Response): ApiProblem | ConnectionLost {
  const problem = toProblem(body, response);
  return problem.code === UNKNOWN && AWAY.has(response.status)
    ? new ConnectionLost('The service does not respond.')
    : new ApiProblem(problem);
}

/** The code of a response that is not one of this service. */
const UNKNOWN = 'unknown';

/** The problem of an error response. A proxy in between may answer with something else. */
function toProblem(body: unknown, response: Response): Problem {
  if (typeof body === 'object' && body !== null && 'code' in body && 'detail' in body) return body as Problem;
  return {
    type: 'about:blank',
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    detail: `The response of ${response.status} is not one of this service.`,
    instance: '',
    code: UNKNOWN,
    request_id: response.headers.get('x-request-id') ?? '',
  };
}

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

/** Sends a request, numbers of its body with every digit. @throws as `dataOf` */
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

export const get = <Path extends PathOf<'get'>>(
  path: Path,
  params: ParamsOf<Path, 'get'>,
  signal?: AbortSignal,
): Promise<Received<Path, 'get'>> => send('get', path, params, undefined, signal);

export const apiQuery = <Path extends PathOf<'get'>>(
  queryKey: readonly unknown[],
  path: Path,
  params: ParamsOf<Path, 'get'>,
) => ({
  queryKey,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => get(path, params, signal),
});

const bodyText = (body: unknown): string => canonicalJson(withoutUndefined(body as JsonValue));

function withoutUndefined(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isJsonObject(value)) return value;
  const stated = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(stated.map(([name, member]) => [name, withoutUndefined(member)]));
}
