import { describe, expect, it } from 'vitest';
import { createTokenBuckets, networkOf } from './limits.ts';

describe('createTokenBuckets', () => {
  it('gives each client its own bucket, refilled evenly', () => {
    let now = 1000;
    const { take, look } = createTokenBuckets(60, () => now);
    const allowed = (client: string, times: number): boolean[] =>
      Array.from({ length: times }, () => take(client).allowed);
    expect(allowed('a', 61)).toEqual([...Array(60).fill(true), false]);
    expect(allowed('b', 1)).toEqual([true]);
    now += 2500;
    expect(allowed('a', 3)).toEqual([true, true, false]);
    expect(take('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 });
    expect(look('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 });
    expect(look('c')).toEqual({ allowed: true, remaining: 60, resetSeconds: 0 });
    now += 3_600_000;
    expect(allowed('a', 61)).toEqual([...Array(60).fill(true), false]);
  });

  it('keeps a bounded number of clients, and drops the least recently active first', () => {
    const { take } = createTokenBuckets(2, () => 0, 100);
    for (let index = 0; index < 2; index++) take('heavy');
    for (let index = 0; index < 99; index++) take(`client ${index}`);
    expect(take('heavy').allowed).toBe(false);
    for (let index = 0; index < 99; index++) take(`other ${index}`);
    // it was active in between, so another one is dropped
    expect(take('heavy').allowed).toBe(false);
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::', 'fe80:0:0:0'],
    // what a proxy may write
    ['1:2:3:4:5:6:7:8:9', '1:2:3:4'],
    ['unknown', 'unknown'],
    ['[2001:db8::1]:443', '[2001:db8:0:0'],
  ])('%s belongs to %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
