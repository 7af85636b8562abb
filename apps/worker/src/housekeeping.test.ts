import { createLogger } from '@svc/service';
import type { Store } from '@svc/service/store';
import { expect, it } from 'vitest';
import { startHousekeeping } from './housekeeping.ts';

it('logs which task fails, and stops immediately', async () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const logger = createLogger({ service: 'svc-worker', level: 'info', secrets: [], write });
  const succeed = async (): Promise<number> => 0;
  const fail = (): Promise<number> => Promise.reject(new Error('permission denied'));
  const stop = startHousekeeping(
    {
      idempotency: { purgeExpired: succeed },
      assets: { collect: fail },
      datasets: { collect: succeed, indexHashes: succeed },
      runs: { deleteTrials: succeed, collect: succeed },
      hubFiles: { collect: succeed },
      audit: { purge: succeed },
    } as unknown as Store,
    { hubFileLimits: { days: 1, bytes: 1 }, auditDays: 1 },
    logger,
  );
  await expect.poll(() => lines.length).toBe(1);
  await stop();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'housekeeping.fail', level: 'warn', task: 'assets', error: { message: 'permission denied' } },
  ]);
});
