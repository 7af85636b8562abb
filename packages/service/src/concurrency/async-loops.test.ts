import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createYielder, forEachConcurrently, interruptible, mapOrdered } from './async-loops.ts';

/** Counts how far it was read and whether it was closed. */
function counting(length: number) {
  const state = { pulled: 0, closed: false };
  async function* source(): AsyncGenerator<number> {
    try {
      for (let i = 0; i < length; i++) {
        state.pulled += 1;
        yield i;
      }
    } finally {
      state.closed = true;
    }
  }
  return { state, source: source() };
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};
const never = new AbortController().signal;

describe('mapOrdered', () => {
  async function* count(to: number, closed: { value: boolean }): AsyncGenerator<number> {
    try {
      for (let value = 0; value < to; value += 1) yield value;
    } finally {
      closed.value = true;
    }
  }

  it('keeps the order, whatever finishes first, and never runs more than `parallelism` concurrently', async () => {
    let running = 0;
    let most = 0;
    const closed = { value: false };
    const results = await Array.fromAsync(
      mapOrdered(count(20, closed), 3, async (value) => {
        running += 1;
        most = Math.max(most, running);
        await delay(value % 3);
        running -= 1;
        return value * 2;
      }),
    );
    expect(results).toEqual(Array.from({ length: 20 }, (_, index) => index * 2));
    expect(most).toBe(3);
  });

  it('closes its source when the consumer stops, and when the work fails', async () => {
    const stopped = { value: false };
    for await (const value of mapOrdered(count(10, stopped), 2, async (n) => n)) if (value === 3) break;
    expect(stopped.value).toBe(true);
    const failed = { value: false };
    await expect(
      Array.fromAsync(
        mapOrdered(count(10, failed), 4, async (n) => {
          if (n === 1) throw new Error('no');
          return n;
        }),
      ),
    ).rejects.toThrow('no');
    expect(failed.value).toBe(true);
  });
});

describe('forEachConcurrently', () => {
  it.each([1, 3, 100])('does all work with at most %i tasks running', async (concurrency) => {
    const { source } = counting(50);
    const done: number[] = [];
    let now = 0;
    let most = 0;
    await forEachConcurrently(source, { concurrency, signal: never }, async (value) => {
      most = Math.max(most, ++now);
      await turns(1 + (value % 3));
      now -= 1;
      done.push(value);
    });
    expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(most).toBe(Math.min(concurrency, 50));
  });

  it('pulls no more values than may run', async () => {
    const { source, state } = counting(1000);
    const release: (() => void)[] = [];
    const all = forEachConcurrently(
      source,
      { concurrency: 4, signal: never },
      () => new Promise((resolve) => release.push(resolve)),
    );
    await turns(5);
    expect(state.pulled).toBe(4);
    release.shift()?.();
    await turns(5);
    expect(state.pulled).toBe(5);
    while (state.pulled < 1000 || release.length > 0) {
      release.shift()?.();
      await turns(1);
    }
    await all;
  });

  it('stops at a failure: aborts and awaits the other calls and closes the source', async () => {
    const { source, state } = counting(1000);
    const ended: string[] = [];
    const run = forEachConcurrently(source, { concurrency: 3, signal: never }, async (value, signal) => {
      if (value === 1) {
        await turns(2);
        throw new Error('one failed');
      }
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await turns(3);
      ended.push(`${value} ended`);
    });
    await expect(run).rejects.toThrow('one failed');
    expect(ended.sort()).toEqual(['0 ended', '2 ended']);
    expect(state).toEqual({ pulled: 3, closed: true });
  });

  it('stops at an abort with its reason', async () => {
    const { source, state } = counting(1000);
    const controller = new AbortController();
    const run = forEachConcurrently(
      source,
      { concurrency: 2, signal: controller.signal },
      async (value, signal) => {
        if (value === 5) controller.abort(new Error('enough'));
        await turns(1);
        signal.throwIfAborted();
      },
    );
    await expect(run).rejects.toThrow('enough');
    expect(state.closed).toBe(true);
    expect(state.pulled).toBeLessThan(10);
  });

  it('does nothing when it is aborted before', async () => {
    const { source, state } = counting(5);
    const run = forEachConcurrently(
      source,
      { concurrency: 2, signal: AbortSignal.abort(new Error('before')) },
      async () => {},
    );
    await expect(run).rejects.toThrow('before');
    expect(state.pulled).toBe(0);
  });

  it('waits for running calls when the source fails', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<number> {
      yield 1;
      await turns(1);
      throw new Error('source failed');
    }
    const run = forEachConcurrently(source(), { concurrency: 2, signal: never }, async () => {
      await turns(5);
      ended = true;
    });
    await expect(run).rejects.toThrow('source failed');
    expect(ended).toBe(true);
  });
});

describe('interruptible', () => {
  it('ends without waiting for a value that never comes', async () => {
    async function* source(): AsyncGenerator<number> {
      yield 1;
      await new Promise(() => {});
    }
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      const wait = <T>(next: Promise<T>): Promise<T> =>
        Promise.race([next, turns(3).then(() => Promise.reject(new Error('interrupted')))]);
      for await (const value of interruptible(source(), wait)) seen.push(value);
    };
    await expect(run()).rejects.toThrow('interrupted');
    expect(seen).toEqual([1]);
  });

  it('closes its source when the consumer stops', async () => {
    const { source, state } = counting(5);
    for await (const value of interruptible(source, (next) => next)) if (value === 2) break;
    await turns(1);
    expect(state).toEqual({ pulled: 3, closed: true });
  });
});

describe('createYielder', () => {
  it('yields to the event loop every 20 ms, and not before', async () => {
    let nowMs = 0;
    let seen = 0;
    const yieldToEventLoop = createYielder(() => nowMs);
    const yieldsAfter = async (ms: number): Promise<boolean> => {
      const before = seen;
      setImmediate(() => {
        seen += 1;
      });
      nowMs += ms;
      await yieldToEventLoop();
      return seen > before;
    };
    expect(await yieldsAfter(19)).toBe(false);
    expect(await yieldsAfter(1)).toBe(true);
    expect(await yieldsAfter(19)).toBe(false);
    expect(await yieldsAfter(100)).toBe(true);
  });
});
