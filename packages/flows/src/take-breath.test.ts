import { expect, it } from 'vitest';
import { createBreather } from './take-breath.ts';

it('lets timers fire while work goes on that waits for nothing', async () => {
  let fired = 0;
  const timer = setInterval(() => {
    fired += 1;
  }, 1);
  const breathe = createBreather();
  const startedAt = performance.now();
  while (performance.now() - startedAt < 150) {
    await Promise.resolve();
    await breathe();
  }
  clearInterval(timer);
  expect(fired).toBeGreaterThanOrEqual(2);
});
