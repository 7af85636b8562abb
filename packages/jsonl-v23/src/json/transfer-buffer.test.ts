import { describe, expect, it } from 'vitest';
import { grownSize, transferBuffer } from './bytes.ts';

const MIB = 1024 * 1024;

describe('transferBuffer', () => {
  it('keeps the bytes, and detaches the old buffer where the runtime can', () => {
    const old = Uint8Array.of(1, 2, 3);
    expect(new Uint8Array(transferBuffer(old.buffer, 2))).toEqual(Uint8Array.of(1, 2));
    if ('transfer' in ArrayBuffer.prototype) expect(old.byteLength).toBe(0);
  });
});

describe('grownSize', () => {
  it('doubles a buffer up to 8 MiB, and goes from there to the longest in one step', () => {
    expect(grownSize(1, 64 * MIB)).toBe(2);
    expect(grownSize(4 * MIB, 64 * MIB)).toBe(8 * MIB);
    expect(grownSize(4 * MIB + 1, 64 * MIB)).toBe(64 * MIB);
    expect(grownSize(8 * MIB, 64 * MIB)).toBe(64 * MIB);
  });

  it('never exceeds the longest', () => {
    expect(grownSize(600, 1000)).toBe(1000);
    expect(grownSize(6 * MIB, 7 * MIB)).toBe(7 * MIB);
  });
});
