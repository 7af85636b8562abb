import { unwrap } from './api-error.ts';
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
 * @throws ApiError; the signal's reason
 * @example for await (const { status, progress } of followJob(client, id)) console.log(status, progress.rows_done);
 */
export function followJob(
  client: ApiClient,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Job, void, undefined> {
  return follow(
    async (signal) => unwrap(await client.GET('/jobs/{id}', { params: { path: { id } }, ...signal })),
    options,
  );
}

/** The same for a run. @throws as `followJob` */
export function followRun(
  client: ApiClient,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Run, void, undefined> {
  return follow(
    async (signal) => unwrap(await client.GET('/runs/{id}', { params: { path: { id } }, ...signal })),
    options,
  );
}

async function* follow<T extends { readonly finished_at?: string | null }>(
  look: (options: { readonly signal?: AbortSignal }) => Promise<T>,
  { intervalMs = INTERVAL_MS, signal }: FollowOptions,
): AsyncGenerator<T, void, undefined> {
  let seen = '';
  for (;;) {
    const found = await look(signal === undefined ? {} : { signal });
    const text = JSON.stringify(found);
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
