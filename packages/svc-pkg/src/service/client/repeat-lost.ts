import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../../cli-context.ts';
import { CliError } from '../../errors/cli-error.ts';

/** Tries of a request that creates something. */
const MAX_TRIES = 3;
const RETRY_DELAY_MS = 1000;

/**
 * Does what creates something, and does it again after a lost connection. With the same `Idempotency-Key`, the service
 * creates one thing all the same.
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
