import { expect, it } from 'vitest';
import { CleanUp } from './clean-up.ts';

it('disposes of everything, the last first, also after an error', async () => {
  const done: string[] = [];
  const cleanUp = new CleanUp();
  cleanUp.defer(async () => void done.push('first'));
  cleanUp.defer(() => Promise.reject(new Error('second')));
  cleanUp.use({ [Symbol.asyncDispose]: async () => void done.push('third') });
  await expect(cleanUp[Symbol.asyncDispose]()).rejects.toThrow('second');
  expect(done).toEqual(['third', 'first']);
});

it('moves what it holds to a value', async () => {
  const done: string[] = [];
  const cleanUp = new CleanUp();
  cleanUp.defer(async () => void done.push('moved'));
  const moved = cleanUp.moveTo({ name: 'moved' });
  await cleanUp[Symbol.asyncDispose]();
  expect(done).toEqual([]);
  expect(moved.name).toBe('moved');
  await moved[Symbol.asyncDispose]();
  expect(done).toEqual(['moved']);
});
