import { expect, it } from 'vitest';
import { createRequestPacer } from './request-timing.ts';

const signal = new AbortController().signal;

it('spaces requests evenly, also after a pause', async () => {
  let nowMs = 0;
  const waits: number[] = [];
  const wait = async (delayMs: number): Promise<void> => void waits.push(delayMs);
  const pacer = createRequestPacer(60, () => nowMs, wait);
  expect(await Promise.all([1, 2, 3].map(() => pacer.turn(signal)))).toEqual([0, 1_000, 2_000]);
  nowMs = 100_000;
  expect(await Promise.all([1, 2].map(() => pacer.turn(signal)))).toEqual([0, 1_000]);
  expect(waits).toEqual([1_000, 2_000, 1_000]);
});

it('does not wait without a limit, and ends with its signal', async () => {
  expect(await createRequestPacer(null).turn(signal)).toBe(0);
  const pacer = createRequestPacer(1);
  await pacer.turn(signal);
  const controller = new AbortController();
  const waiting = pacer.turn(controller.signal);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
});
