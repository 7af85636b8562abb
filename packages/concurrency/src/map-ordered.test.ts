import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapOrdered } from './map-ordered.ts';

async function* count(to: number, closed: { value: boolean }): AsyncGenerator<number> {
  try {
    for (let value = 0; value < to; value += 1) yield value;
  } finally {
    closed.value = true;
  }
}

it('keeps the order, whatever finishes first, and never runs more than `parallelism` concurrently', async () => {
  let running = 0;
  let most = 0;
  const closed = { value: false };
  const results = await Array.fromAsync(
    mapOrdered(count(20, closed), 3, async (value) => {
      running += 1;
      most = Math.max(most, running);
      await delay(value % 3);
      running -= 1;
      return value * 2;
    }),
  );
  expect(results).toEqual(Array.from({ length: 20 }, (_, index) => index * 2));
  expect(most).toBe(3);
});

it('closes its source when the consumer stops, and when the work fails', async () => {
  const stopped = { value: false };
  for await (const value of mapOrdered(count(10, stopped), 2, async (n) => n)) if (value === 3) break;
  expect(stopped.value).toBe(true);
  const failed = { value: false };
  await expect(
    Array.fromAsync(
      mapOrdered(count(10, failed), 4, async (n) => {
        if (n === 1) throw new Error('no');
        return n;
      }),
    ),
  ).rejects.toThrow('no');
  expect(failed.value).toBe(true);
});
