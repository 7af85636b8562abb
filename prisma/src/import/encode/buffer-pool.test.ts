import { expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

const MIB = 1024 * 1024;

it('hands out a buffer that was taken back', () => {
  const pool = new BufferPool();
  const { buffer } = pool.acquire(MIB);
  pool.release(buffer);
  expect(pool.acquire(MIB - 1).buffer).toBe(buffer);
  expect(pool.acquire(MIB).buffer).not.toBe(buffer);
});

it('keeps 8 MiB, and frees what exceeds them', () => {
  const pool = new BufferPool();
  const buffers = Array.from({ length: 20 }, () => pool.acquire(MIB).buffer);
  for (const buffer of buffers) pool.release(buffer);
  expect(buffers.filter(({ detached }) => detached)).toHaveLength(12);
  const large = pool.acquire(5 * MIB).buffer;
  pool.release(large);
  expect(large.detached).toBe(true);
  expect(pool.drain()).toHaveLength(8);
  expect(pool.drain()).toEqual([]);
  const next = pool.acquire(MIB).buffer;
  pool.release(next);
  expect(next.detached).toBe(false);
});
