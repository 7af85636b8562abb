import { expect, it } from 'vitest';
import { createYielder } from './create-yielder.ts';

it('yields to the event loop every 20 ms, and not before', async () => {
  let nowMs = 0;
  let turns = 0;
  const yieldToEventLoop = createYielder(() => nowMs);
  const yieldsAfter = async (ms: number): Promise<boolean> => {
    const before = turns;
    setImmediate(() => {
      turns += 1;
    });
    nowMs += ms;
    await yieldToEventLoop();
    return turns > before;
  };
  expect(await yieldsAfter(19)).toBe(false);
  expect(await yieldsAfter(1)).toBe(true);
  expect(await yieldsAfter(19)).toBe(false);
  expect(await yieldsAfter(100)).toBe(true);
});
