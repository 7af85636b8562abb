import { canonicalJson, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { api, type Method, type ParamsOf, type PathOf, type Received, type SentTo } from './api.ts';
import { dataOf } from './api-problem.ts';

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
  const sent = body === undefined ? {} : { body, bodySerializer: bodyText };
  return await dataOf(request(path, { params, ...sent, ...(signal !== undefined && { signal }) }));
}

const bodyText = (body: unknown): string => canonicalJson(withoutUndefined(body as JsonValue));

/** A value as JSON has it: members that are undefined are left out. */
function withoutUndefined(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isJsonObject(value)) return value;
  const stated = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(stated.map(([name, member]) => [name, withoutUndefined(member)]));
}
