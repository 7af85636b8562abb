import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';

it('lets so many in at once, the next one as soon as one leaves', async () => {
  const limiter = createLimiter(2, 5_000);
  const [first] = [await limiter.enter(), await limiter.enter()];
  let entered = false;
  const third = limiter.enter().then((leave) => {
    entered = true;
    return leave;
  });
  await delay(10);
  expect(entered).toBe(false);
  first();
  first();
  await third;
  // leaving twice gave one place, not two
  await expect(createLimiterState(limiter)).resolves.toBe('full');
});

async function createLimiterState(limiter: ReturnType<typeof createLimiter>): Promise<'full' | 'free'> {
  const abort = new AbortController();
  const trying = limiter.enter(abort.signal).then(
    () => 'free' as const,
    () => 'full' as const,
  );
  await delay(10);
  abort.abort();
  return await trying;
}

it('refuses who waits too long', async () => {
  const limiter = createLimiter(1, 10);
  await limiter.enter();
  await expect(limiter.enter()).rejects.toMatchObject({ code: 'unavailable' });
});

it('lets who is aborted go, and keeps its place for the next', async () => {
  const limiter = createLimiter(1, 5_000);
  const leave = await limiter.enter();
  const abort = new AbortController();
  const aborted = limiter.enter(abort.signal);
  const next = limiter.enter();
  abort.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  leave();
  await next;
  await expect(limiter.enter(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});
