import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLimiter } from './semaphore.ts';

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

it('lets in by permits, in the order of arrival', async () => {
  const limiter = createLimiter(10, 5_000);
  const leave = await limiter.enter(undefined, 8);
  const order: string[] = [];
  const large = limiter.enter(undefined, 99).then((done) => {
    order.push('large');
    return done;
  });
  const small = limiter.enter(undefined, 1).then((done) => {
    order.push('small');
    return done;
  });
  await delay(10);
  expect(order).toEqual([]);
  leave();
  // all of them, though more were asked for
  (await large)();
  (await small)();
  expect(order).toEqual(['large', 'small']);
});

it('lets those in that stood behind one that was refused', async () => {
  const limiter = createLimiter(2, 5_000);
  await limiter.enter();
  const abort = new AbortController();
  const large = limiter.enter(abort.signal, 2);
  const small = limiter.enter();
  abort.abort(new Error('gone'));
  await expect(large).rejects.toThrow('gone');
  await small;
});
