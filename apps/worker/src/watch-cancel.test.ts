import { createLogger, createMetrics } from '@svc/service';
import type { Cancellations } from '@svc/service/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CancelWatch, createCancelWatch } from './watch-cancel.ts';

let watch: CancelWatch;
let asked: string[][];
let askedAt: number[];
let answer: () => Promise<Cancellations> | Cancellations;
let log: string[];
const metrics = createMetrics({ version: '0', collectProcessMetrics: false });

beforeEach(() => {
  vi.useFakeTimers();
  metrics.resetForTesting();
  asked = [];
  askedAt = [];
  log = [];
  answer = () => ({ cancelled: [], checkIntervalMs: 1000 });
  watch = createCancelWatch({
    cancellationsAmong: async (ids) => {
      asked.push([...ids]);
      askedAt.push(performance.now());
      return await answer();
    },
    logger: createLogger({ service: 'svc-worker', write: (line) => void log.push(line) }),
    metrics,
  });
});
afterEach(async () => {
  await watch.stop();
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

async function counted(name: string): Promise<number> {
  const line = (await metrics.render()).split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

describe('the cancellation watch', () => {
  it('asks nothing while there is nothing to watch', async () => {
    await pass(600_000);
    using _one = watch.watch('a');
    await pass(0);
    expect(asked).toEqual([['a']]);
  });

  it('asks once each interval for everything, and counts it', async () => {
    const all = Array.from({ length: 50 }, (_, index) => watch.watch(String(index)));
    await pass(0);
    await pass(10_000);
    expect(asked).toHaveLength(11);
    expect(asked.at(-1)).toHaveLength(50);
    expect(await counted('runs_cancel_poll_count')).toBe(11);
    expect(await counted('runs_cancel_poll_db_queries_total')).toBe(11);
    expect(await counted('runs_cancel_poll_latency_seconds_count')).toBe(11);
    for (const one of all) one[Symbol.dispose]();
    await pass(10_000);
    expect(asked).toHaveLength(11);
  });

  it('does not ask more often because runs begin and end quickly', async () => {
    for (let index = 0; index < 100; index++) {
      using _one = watch.watch(String(index));
      await pass(100);
    }
    expect(asked.length).toBeLessThanOrEqual(11);
  });

  it('takes a changed interval up with the next check', async () => {
    using _one = watch.watch('a');
    await pass(0);
    answer = () => ({ cancelled: [], checkIntervalMs: 250 });
    await pass(1000);
    await pass(1000);
    expect(askedAt.map((at) => at - (askedAt[0] ?? 0))).toEqual([0, 1000, 1250, 1500, 1750, 2000]);
    answer = () => ({ cancelled: [], checkIntervalMs: 60_000 });
    await pass(250);
    asked.length = 0;
    await pass(59_999);
    expect(asked).toHaveLength(0);
    await pass(1);
    expect(asked).toHaveLength(1);
  });

  it('aborts what is to end, and only that', async () => {
    using a = watch.watch('a');
    using b = watch.watch('b');
    answer = () => ({ cancelled: ['b', 'unknown'], checkIntervalMs: 1000 });
    await pass(0);
    expect(a.signal.aborted).toBe(false);
    expect(b.signal.reason).toMatchObject({ code: 'run_cancelled' });
  });

  it('aborts at a notification without asking', async () => {
    using a = watch.watch('a');
    await pass(0);
    watch.notify('unknown');
    watch.notify('a');
    expect(a.signal.aborted).toBe(true);
    await pass(100);
    expect(asked).toHaveLength(1);
  });

  it('asks immediately when notifications may have been lost', async () => {
    using _one = watch.watch('a');
    await pass(10);
    watch.check();
    await pass(0);
    expect(asked).toHaveLength(2);
  });

  it('continues after a failed check, and reports it', async () => {
    using a = watch.watch('a');
    answer = () => Promise.reject(new Error('away'));
    await pass(0);
    answer = () => ({ cancelled: ['a'], checkIntervalMs: 1000 });
    expect(a.signal.aborted).toBe(false);
    await pass(2000);
    expect(a.signal.aborted).toBe(true);
    expect(log.filter((line) => line.includes('worker.cancel_poll.fail'))).toHaveLength(1);
    expect(await counted('runs_cancel_poll_count')).toBe(2);
  });

  it('does not wait for a slow check longer than that takes', async () => {
    using _one = watch.watch('a');
    answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { cancelled: [], checkIntervalMs: 1000 };
    };
    await pass(0);
    await pass(3500);
    expect(askedAt.map((at) => at - (askedAt[0] ?? 0))).toEqual([0, 1000, 2000, 3000]);
  });
});
