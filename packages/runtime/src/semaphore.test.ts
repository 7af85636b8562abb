import { expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

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
  const greedy = await Promise.all([semaphore.acquire(signal, 'a'), semaphore.acquire(signal, 'a')]);
  let isAdmitted = false;
  const third = semaphore.acquire(signal, 'a').then((permit) => {
    isAdmitted = true;
    return permit;
  });
  // other clients pass the one that waits for its own share
  using _b = await semaphore.acquire(signal, 'b');
  const c = await semaphore.acquire(signal, 'c');
  const waiting = semaphore.acquire(signal, 'd');
  c[Symbol.dispose]();
  using _d = await waiting;
  expect(isAdmitted).toBe(false);
  greedy[0]?.[Symbol.dispose]();
  using _third = await third;
});
