import { afterEach, expect, it, vi } from 'vitest';
import { ApiProblem } from '../../api/api.ts';
import { readStart } from './text-file.tsx';

const read = (answer: () => Promise<Response>) => {
  vi.stubGlobal('fetch', answer);
  return readStart('/datasets/1/assets/notes.txt', new AbortController().signal);
};

afterEach(() => vi.unstubAllGlobals());

it('tells a file that is not there from a service that does not respond', async () => {
  await expect(read(async () => new Response('', { status: 404 }))).rejects.toThrow(ApiProblem);
});

it('reads the start of a file, and an empty one', async () => {
  const headers = { 'content-range': 'bytes 0-1/70000' };
  const part = await read(async () => new Response('ab', { status: 206, headers }));
  expect(part).toEqual({ text: 'ab', total: 70_000, isWhole: false });
  const empty = await read(async () => new Response('', { status: 416 }));
  expect(empty).toEqual({ text: '', total: 0, isWhole: true });
});
