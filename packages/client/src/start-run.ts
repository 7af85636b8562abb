import { badResponse, hasTexts, unwrap } from './api-error.ts';
import type { ApiClient } from './create-api-client.ts';
import type { Run } from './follow.ts';
import type { BodyOf, ResponseOf } from './response-of.ts';
import { randomKey } from './upload-file.ts';

/** A dataset, how to run it, and a name. */
export type RunRequest = BodyOf<'/runs'>;
/** What a run would do, and warnings. */
export type PlannedRun = ResponseOf<'/runs/plan', 'post'>;

export interface StartOptions {
  /** A repeat with the same key starts one run; default a random one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/**
 * Starts a run. Follow it with `followRun`.
 *
 * @throws ApiError; the signal's reason
 */
export async function startRun(
  client: ApiClient,
  request: RunRequest,
  { idempotencyKey = randomKey(), signal }: StartOptions = {},
): Promise<Run> {
  const reply = await client.POST('/runs', {
    params: { header: { 'Idempotency-Key': idempotencyKey } },
    body: request,
    ...(signal && { signal }),
  });
  const run = unwrap(reply);
  if (!hasTexts(run, 'id', 'status')) throw badResponse(reply.response.status, '/runs', 'no run');
  return run;
}

/**
 * Says what a run would do, and starts nothing.
 *
 * @throws ApiError; the signal's reason
 */
export async function planRun(
  client: ApiClient,
  request: RunRequest,
  { signal }: Pick<StartOptions, 'signal'> = {},
): Promise<PlannedRun> {
  return unwrap(await client.POST('/runs/plan', { body: request, ...(signal && { signal }) }));
}
