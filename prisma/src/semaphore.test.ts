import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { StoreError } from './database/errors.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';

const semaphoreOf = (permits: number, waitMs: number): Semaphore =>
  createSemaphore({ permits, waitMs, refuse: () => new StoreError('unavailable', 'Busy.') });
const release = (permit: Disposable): void => permit[Symbol.dispose]();

it('admits as many callers as there are permits, and the next one when a permit is released', async () => {
  const semaphore = semaphoreOf(2, 5_000);
  const first = await semaphore.acquire();
  await semaphore.acquire();
  let isAdmitted = false;
  const third = semaphore.acquire().then(() => {
    isAdmitted = true;
  });
  await delay(10);
  expect(isAdmitted).toBe(false);
  release(first);
  release(first);
  await third;
  // Releasing twice returned one permit, not two.
  await expect(stateOf(semaphore)).resolves.toBe('full');
});

async function stateOf(semaphore: Semaphore): Promise<'full' | 'free'> {
  const abort = new AbortController();
  const trying = semaphore.acquire(abort.signal).then(
    () => 'free' as const,
    () => 'full' as const,
  );
  await delay(10);
  abort.abort();
  return await trying;
}

it('rejects a caller that waits too long', async () => {
  const semaphore = semaphoreOf(1, 10);
  await semaphore.acquire();
  await expect(semaphore.acquire()).rejects.toMatchObject({ code: 'unavailable' });
});

it('rejects an aborted caller, and admits the next one', async () => {
  const semaphore = semaphoreOf(1, 5_000);
  const permit = await semaphore.acquire();
  const abort = new AbortController();
  const aborted = semaphore.acquire(abort.signal);
  const next = semaphore.acquire();
  abort.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  release(permit);
  await next;
  await expect(semaphore.acquire(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});

it('admits callers in order of arrival, whatever number of permits they want', async () => {
  const semaphore = semaphoreOf(10, 5_000);
  const permit = await semaphore.acquire(undefined, 8);
  const order: string[] = [];
  const large = semaphore.acquire(undefined, 99).then((done) => {
    order.push('large');
    return done;
  });
  const small = semaphore.acquire(undefined, 1).then((done) => {
    order.push('small');
    return done;
  });
  await delay(10);
  expect(order).toEqual([]);
  release(permit);
  // All of them, though more were asked for.
  release(await large);
  release(await small);
  expect(order).toEqual(['large', 'small']);
});

it('admits the callers behind one that was rejected', async () => {
  const semaphore = semaphoreOf(2, 5_000);
  await semaphore.acquire();
  const abort = new AbortController();
  const large = semaphore.acquire(abort.signal, 2);
  const small = semaphore.acquire();
  abort.abort(new Error('gone'));
  await expect(large).rejects.toThrow('gone');
  await small;
});
