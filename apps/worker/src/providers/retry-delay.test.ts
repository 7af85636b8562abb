import { describe, expect, it } from 'vitest';
import { type ResponseHeaders, retryDelayMs } from './request-timing.ts';

const nowMs = Date.parse('2024-05-01T00:00:00Z');

describe('retryDelayMs', () => {
  it.each<[number, ResponseHeaders, number, number | null]>([
    [1, {}, 1, 500],
    [1, {}, 0, 250],
    [2, {}, 1, 1000],
    [4, {}, 1, 4000],
    [20, {}, 1, 30_000],
    [2000, {}, 1, 30_000],
    [1, { 'retry-after': '7' }, 0, 7000],
    [9, { 'retry-after': '7' }, 1, 7700],
    [1, { 'retry-after': ' 0 ' }, 0, 0],
    [1, { 'retry-after': 'Wed, 01 May 2024 00:00:10 GMT' }, 0, 10_000],
    [1, { 'retry-after': 'Tue, 30 Apr 2024 00:00:10 GMT' }, 0, 0],
    [1, { 'retry-after': '301' }, 0, null],
    [1, { 'retry-after': '300' }, 0, 300_000],
    [1, { 'retry-after': '-5' }, 1, 500],
    [1, { 'retry-after': 'soon' }, 1, 500],
    [1, { 'retry-after': ['3', '9'] }, 0, 3000],
    [1, { 'retry-after-ms': '120', 'retry-after': '7' }, 0, 120],
  ])('attempt %i, headers %j, random %d: %j', (attempt, headers, random, expected) => {
    expect(retryDelayMs(attempt, headers, random, nowMs, 0)).toBe(expected);
  });

  it.each<[number, ResponseHeaders, number | null]>([
    [0, { 'retry-after': '300' }, 300_000],
    [1_000, { 'retry-after': '299' }, 299_000],
    [1_001, { 'retry-after': '299' }, null],
    [270_000, {}, 30_000],
    [270_001, {}, null],
  ])('after %i ms of delays, headers %j: %j', (waitedMs, headers, expected) => {
    expect(retryDelayMs(9, headers, 1, nowMs, waitedMs)).toBe(expected);
  });
});
