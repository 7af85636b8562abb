import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDiskShare, DiskShortage, freeDiskBytes } from './shares.ts';

describe('DiskShare', () => {
  it('never lets its users take more than their share of the disk, whatever others take', async () => {
    const step = fc.record({ user: fc.nat(3), bytes: fc.nat(300), others: fc.nat(100), ends: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 100 }),
        async (steps, percent) => {
          const written = new Map<number, number>();
          const sum = (): number => [...written.values()].reduce((total, bytes) => total + bytes, 0);
          let othersBytes = 0;
          const freeBytes = (): number => Math.max(0, 1000 - othersBytes - sum());
          const share = createDiskShare<number>(
            percent,
            async () => freeBytes(),
            () => sum(),
          );
          for (const { user, bytes, others, ends } of steps) {
            if (ends) {
              share.release(user);
              written.delete(user);
              continue;
            }
            othersBytes += others;
            const total = (written.get(user) ?? 0) + bytes;
            const mayTake = ((freeBytes() + sum()) * percent) / 100;
            try {
              await share.reserve(user, total);
            } catch (error) {
              expect(error).toBeInstanceOf(DiskShortage);
              continue;
            }
            const isMore = total > (written.get(user) ?? 0);
            written.set(user, total);
            if (isMore) expect(sum()).toBeLessThanOrEqual(mayTake);
          }
        },
      ),
    );
  });

  it('does not promise the same space twice', async () => {
    const share = createDiskShare<string>(
      50,
      async () => 1000,
      () => 0,
    );
    const results = await Promise.allSettled([share.reserve('a', 300), share.reserve('b', 300)]);
    expect(results.map(({ status }) => status)).toContain('rejected');
    share.release('a');
    share.release('b');
    await share.reserve('c', 500);
    await expect(share.reserve('c', 501)).rejects.toThrow(DiskShortage);
  });

  it('knows the free space of a folder', async () => {
    expect(await freeDiskBytes(tmpdir())).toBeGreaterThan(0);
  });
});
