import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepPlace, readPlaces, readVisit } from './visits.ts';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const MINUTE = 60_000;

it('tells when the last visit ended, as long as the visit goes on', () => {
  expect(readVisit(0)).toBeNull();
  expect(readVisit(10 * MINUTE)).toBeNull();
  expect(readVisit(100 * MINUTE)).toBe(10 * MINUTE);
  expect(readVisit(120 * MINUTE)).toBe(10 * MINUTE);
  expect(readVisit(200 * MINUTE)).toBe(120 * MINUTE);
});

it('keeps the last places, each once, and does without a browser that keeps any', () => {
  for (const at of [1, 2, 3, 4, 5, 6, 7, 8, 9, 3]) keepPlace({ path: `/runs/${at}`, title: `Run ${at}` });
  expect(readPlaces().map(({ path }) => path)).toEqual([3, 9, 8, 7, 6, 5, 4, 2].map((at) => `/runs/${at}`));
  vi.stubGlobal('localStorage', undefined);
  expect(readPlaces()).toEqual([]);
  keepPlace({ path: '/runs/1', title: 'Run 1' });
  expect(readVisit(0)).toBeNull();
});
