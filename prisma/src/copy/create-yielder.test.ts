import { expect, it } from 'vitest';
import { createYielder } from './create-yielder.ts';

it('lets timers fire during work that never waits', async () => {
  let fired = 0;
  const timer = setInterval(() => {
    fired += 1;
  }, 1);
  const yieldToEventLoop = createYielder();
  const startedAt = performance.now();
  while (performance.now() - startedAt < 150) {
    await Promise.resolve();
    await yieldToEventLoop();
  }
  clearInterval(timer);
  expect(fired).toBeGreaterThanOrEqual(2);
});
