import { describe, expect, it } from 'vitest';
import { forEachConcurrently } from './for-each-concurrently.ts';

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
