import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Semaphore } from './shares.ts';

const { signal } = new AbortController();
const timeoutError = (): Error => new Error('full');

it('admits callers in order of arrival, as permits are released', async () => {
  const semaphore = new Semaphore({ permits: 1, waitMs: 60_000, timeoutError });
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    using _permit = await semaphore.acquire(signal);
    order.push(`${name} begins`);
    await Promise.resolve();
    order.push(`${name} ends`);
  };
  await Promise.all(['a', 'b', 'c'].map(work));
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

it('rejects a caller that waits too long, and admits the next one', async () => {
  const semaphore = new Semaphore({ permits: 1, waitMs: 1, timeoutError });
  const first = await semaphore.acquire(signal);
  await expect(semaphore.acquire(signal)).rejects.toThrow('full');
  first[Symbol.dispose]();
  using _next = await semaphore.acquire(signal);
});

it('rejects a caller that gives up, with the reason', async () => {
  const semaphore = new Semaphore({ permits: 1, waitMs: 60_000, timeoutError });
  const first = await semaphore.acquire(signal);
  const leaving = new AbortController();
  const waiting = semaphore.acquire(leaving.signal);
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  await expect(semaphore.acquire(leaving.signal)).rejects.toThrow('left');
  first[Symbol.dispose]();
  using _next = await semaphore.acquire(signal);
});

it('leaves no listener at the signal of a caller that was admitted', async () => {
  const semaphore = new Semaphore({ permits: 1, waitMs: 60_000, timeoutError });
  const first = await semaphore.acquire();
  const caller = new AbortController();
  const waiting = semaphore.acquire(caller.signal);
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
  first[Symbol.dispose]();
  using _second = await waiting;
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

it('tells when nobody holds a permit', async () => {
  const semaphore = new Semaphore({ permits: 2, waitMs: 60_000, timeoutError });
  await semaphore.idle(signal);
  const [first, second] = [await semaphore.acquire(), await semaphore.acquire()];
  const order: string[] = [];
  const idle = semaphore.idle(signal).then(() => order.push('idle'));
  const third = semaphore.acquire().then((permit) => {
    order.push('third');
    permit[Symbol.dispose]();
  });
  first[Symbol.dispose]();
  await third;
  await expect(semaphore.idle(AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  second[Symbol.dispose]();
  await idle;
  expect(order).toEqual(['third', 'idle']);
});

it('releases a permit once, however often it is disposed of', async () => {
  const semaphore = new Semaphore({ permits: 1, waitMs: 1, timeoutError });
  const first = await semaphore.acquire(signal);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  using _held = await semaphore.acquire(signal);
  await expect(semaphore.acquire(signal)).rejects.toThrow('full');
});

it('gives one client no more than its share', async () => {
  const semaphore = new Semaphore({ permits: 4, permitsPerClient: 2, waitMs: 60_000, timeoutError });
  const greedy = await Promise.all([
    semaphore.acquire(signal, { client: 'a' }),
    semaphore.acquire(signal, { client: 'a' }),
  ]);
  let isAdmitted = false;
  const third = semaphore.acquire(signal, { client: 'a' }).then((permit) => {
    isAdmitted = true;
    return permit;
  });
  // other clients pass the one that waits for its own share
  using _b = await semaphore.acquire(signal, { client: 'b' });
  const c = await semaphore.acquire(signal, { client: 'c' });
  const waiting = semaphore.acquire(signal, { client: 'd' });
  c[Symbol.dispose]();
  using _d = await waiting;
  expect(isAdmitted).toBe(false);
  greedy[0]?.[Symbol.dispose]();
  using _third = await third;
});

it('admits callers in order of arrival, whatever number of permits they want', async () => {
  const semaphore = new Semaphore({ permits: 10, waitMs: 60_000, timeoutError });
  const held = await semaphore.acquire(signal, { permits: 8 });
  const order: string[] = [];
  const take = async (name: string, permits: number): Promise<void> => {
    using _permits = await semaphore.acquire(undefined, { permits });
    order.push(name);
    await Promise.resolve();
    order.push(`${name} ends`);
  };
  // All of them, though more are asked for.
  const large = take('large', 99);
  const small = take('small', 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  held[Symbol.dispose]();
  await Promise.all([large, small]);
  expect(order).toEqual(['large', 'large ends', 'small', 'small ends']);
});

it('admits several callers with the permits that one releases', async () => {
  const semaphore = new Semaphore({ permits: 3, waitMs: 60_000, timeoutError });
  const held = await semaphore.acquire(signal, { permits: 3 });
  const waiting = [1, 2].map((permits) => semaphore.acquire(signal, { permits }));
  held[Symbol.dispose]();
  await Promise.all(waiting);
});

it('admits the callers behind one that gives up', async () => {
  const semaphore = new Semaphore({ permits: 2, waitMs: 60_000, timeoutError });
  await semaphore.acquire(signal);
  const leaving = new AbortController();
  const large = semaphore.acquire(leaving.signal, { permits: 2 });
  const small = semaphore.acquire(signal);
  leaving.abort(new Error('left'));
  await expect(large).rejects.toThrow('left');
  await small;
});
