import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';
import type { ServiceClient } from './service-client.ts';
import type { JsonResponse, ServiceRequest } from './service-request.ts';

/** Tries of a request that creates something. */
const MAX_TRIES = 3;
const RETRY_DELAY_MS = 1000;

/**
 * Sends a request that creates something, with an `Idempotency-Key`: after a lost connection it is sent again, and the
 * service creates one thing all the same.
 *
 * @param requestOf makes the request, with a body that has not been read; the key is the same in each attempt
 * @throws as `ServiceClient.sendForJson`
 */
export async function createOnce<T>(
  cli: Cli,
  service: ServiceClient,
  requestOf: (idempotencyKey: string) => Promise<ServiceRequest> | ServiceRequest,
): Promise<JsonResponse<T>> {
  return await repeatLost(cli, async (idempotencyKey) => {
    const request = await requestOf(idempotencyKey);
    const headers = { ...request.headers, 'idempotency-key': idempotencyKey };
    return await service.sendForJson<T>({ ...request, headers });
  });
}

/**
 * Does what creates something, and does it again after a lost connection. With the same key, the service creates one thing
 * all the same.
 */
export async function repeatLost<T>(cli: Cli, create: (idempotencyKey: string) => Promise<T>): Promise<T> {
  const idempotencyKey = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await create(idempotencyKey);
    } catch (error) {
      const isLost = error instanceof CliError && error.code === 'connection_lost';
      if (!isLost || attempt === MAX_TRIES) throw error;
      await sleep(RETRY_DELAY_MS * attempt, undefined, { signal: cli.signal });
    }
  }
}
