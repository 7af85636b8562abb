import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { badResponse, hasTexts, requireId, unwrap } from './api-error.ts';
import type { ApiClient } from './create-api-client.ts';
import type { ResponseOf } from './response-of.ts';

export type Job = ResponseOf<'/jobs/{id}', 'get'>;
export type Run = ResponseOf<'/runs/{id}', 'get'>;

export interface FollowOptions {
  /** Time between two looks; default 1,000. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
}

const INTERVAL_MS = 1000;

/**
 * Follows a job: yields it now and whenever it has changed, and ends when the job has ended.
 *
 * @throws TypeError for an empty id; ApiError, also where another server responds (`bad_response`); the signal's reason
 * @example for await (const { status, progress } of followJob(client, id)) console.log(status, progress.rows_done);
 */
export function followJob(
  client: ApiClient,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Job, void, undefined> {
  const params = { path: { id: requireId(id, 'id') } };
  return follow('job', async (signal) => await client.GET('/jobs/{id}', { params, ...signal }), options);
}

/** The same for a run. @throws as `followJob` */
export function followRun(
  client: ApiClient,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Run, void, undefined> {
  const params = { path: { id: requireId(id, 'id') } };
  return follow('run', async (signal) => await client.GET('/runs/{id}', { params, ...signal }), options);
}

async function* follow<T extends { readonly finished_at?: string | null }>(
  kind: 'job' | 'run',
  look: (options: {
    readonly signal?: AbortSignal;
  }) => Promise<{ data?: T; error?: unknown; response: Response }>,
  { intervalMs = INTERVAL_MS, signal }: FollowOptions,
): AsyncGenerator<T, void, undefined> {
  let seen = '';
  for (;;) {
    const reply = await look(signal === undefined ? {} : { signal });
    const found = unwrap(reply);
    if (!hasTexts(found, 'id', 'status', 'created_at')) {
      throw badResponse(reply.response.status, reply.response.url, `no ${kind}`);
    }
    const text = canonicalJson(found as unknown as JsonValue);
    if (text !== seen) yield found;
    seen = text;
    if ((found.finished_at ?? null) !== null) return;
    await delay(intervalMs, signal);
  }
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
