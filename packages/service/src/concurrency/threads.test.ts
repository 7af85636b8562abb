import { describe, expect, it, vi } from 'vitest';
import { createThreadPool, type ThreadPool, type ThreadPoolOptions } from './threads.ts';

/** A pool whose threads run `script`, which has the port as `port` and its thread's number as `threadId`. */
function poolOf(script: string, options: ThreadPoolOptions): ThreadPool<unknown, unknown> {
  const code = `import { parentPort as port, threadId } from 'node:worker_threads';
    const reply = (outcome) => port.postMessage({ kind: 'outcome', outcome });
    port.on('message', (task) => task === null && process.exit());
    port.postMessage({ kind: 'ready' });
    ${script}`;
  const file = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const limitError = (task: unknown, reason: string): Error => new Error(`Task ${String(task)} ${reason}.`);
  return createThreadPool(
    { file, limitError, failedError: (failure: string) => new Error(failure) },
    options,
  );
}

/** Replies with the number of the thread, after a while. */
const REPLY_LATER = "port.on('message', () => setTimeout(() => reply(threadId), 20))";
/** Never replies to the task `forever`, and does not reply to others after it. */
const OR_FOREVER = "port.on('message', (task) => { while (task === 'forever'); reply(task); })";

describe('createThreadPool', () => {
  it('gives the threads, which read untrusted content, no environment', async () => {
    expect(process.env).not.toEqual({});
    await using pool = poolOf("port.on('message', () => reply({ ...process.env }))", { maxThreads: 1 });
    expect(await pool.run('task')).toEqual({});
  });

  it.each([
    ['exits', "port.on('message', () => process.exit(3))"],
    ['throws', "port.on('message', () => { throw new Error('broken') })"],
    ['does not start', "throw new Error('broken')"],
  ])('fails the tasks that a thread holds if it %s', async (_, script) => {
    await using pool = poolOf(script, { maxThreads: 1, tasksPerThread: 2 });
    for (const outcome of await Promise.allSettled([pool.run(1), pool.run(2)])) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'A thread has died.' } });
    }
  });

  it('replaces a thread that died, for waiting and for later tasks', async () => {
    const script = "port.on('message', (task) => task === 'die' ? process.exit(1) : reply(task))";
    await using pool = poolOf(script, { maxThreads: 1 });
    const [died, waited] = await Promise.allSettled([pool.run('die'), pool.run(2)]);
    expect(died).toMatchObject({ status: 'rejected', reason: { message: 'A thread has died.' } });
    expect(waited).toEqual({ status: 'fulfilled', value: 2 });
    expect(await pool.run(3)).toBe(3);
  });

  it('gives each task to the thread that has least to do', async () => {
    await using pool = poolOf(REPLY_LATER, { maxThreads: 3, tasksPerThread: 2 });
    const used = await Promise.all([1, 2, 3, 4, 5, 6].map((task) => pool.run(task)));
    const threads = [...new Set(used)];
    expect(threads.map((thread) => used.filter((one) => one === thread).length)).toEqual([2, 2, 2]);
  });

  it('lets tasks wait in order while every thread holds as many as allowed', async () => {
    await using pool = poolOf("port.on('message', (task) => reply(task))", {
      maxThreads: 1,
      tasksPerThread: 2,
    });
    const done: unknown[] = [];
    const tasks = [1, 2, 3, 4, 5, 6, 7];
    await Promise.all(tasks.map(async (task) => done.push(await pool.run(task))));
    expect(done).toEqual(tasks);
  });

  it('gives each task its reply where the second one would be ready first', async () => {
    const module = new URL('./threads.ts', import.meta.url);
    const script = `import { serveTasks } from '${module}';
      serveTasks(port, async (ms) => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        return { message: { kind: 'outcome', outcome: ms } };
      });`;
    await using pool = poolOf(script, { maxThreads: 1, tasksPerThread: 2 });
    expect(await Promise.all([pool.run(200), pool.run(1)])).toEqual([200, 1]);
  });

  it('ends an idle thread after `maxIdleMs`, and starts another for the next task', async () => {
    await using pool = poolOf(REPLY_LATER, { maxThreads: 1, maxIdleMs: 100 });
    const [first, second] = [await pool.run(1), await pool.run(2)];
    expect(second).toBe(first);
    await vi.waitFor(async () => expect(await pool.run(3)).not.toBe(first), {
      timeout: 30_000,
      interval: 1000,
    });
  });

  it('fails a task that takes longer than its limit, and the one behind it on its thread', async () => {
    await using pool = poolOf(OR_FOREVER, { maxThreads: 1, tasksPerThread: 2 });
    const [late, behind, later] = await Promise.allSettled([
      pool.run('forever', 50),
      pool.run(2),
      pool.run(3),
    ]);
    expect(late).toMatchObject({ reason: { message: 'Task forever took longer than 0.05 seconds.' } });
    expect(behind).toMatchObject({ reason: { message: 'A thread has died.' } });
    expect(later).toEqual({ status: 'fulfilled', value: 3 });
  });

  it('begins the limit of a task with its turn', async () => {
    const script =
      "port.on('message', (ms) => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); reply(ms); })";
    await using pool = poolOf(script, { maxThreads: 1, tasksPerThread: 2 });
    expect(await Promise.all([pool.run(1_000), pool.run(1, 900), pool.run(2, 900)])).toEqual([1_000, 1, 2]);
  });

  it('rejects an aborted task immediately, wherever it is', async () => {
    await using pool = poolOf(OR_FOREVER, { maxThreads: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = pool.run('forever', undefined, first.signal);
    const waiting = pool.run('forever', undefined, second.signal);
    second.abort('second');
    await expect(waiting).rejects.toBe('second');
    first.abort('first');
    await expect(running).rejects.toBe('first');
    expect(await pool.run(1)).toBe(1);
  });

  it('lets a thread end by itself: terminated, it might abort the process', async () => {
    const script =
      "port.on('message', (flag) => flag && process.on('exit', () => Atomics.store(flag, 0, 1)))";
    const pool = poolOf(script, { maxThreads: 1 });
    const hasExited = new Int32Array(new SharedArrayBuffer(4));
    const aborted = new AbortController();
    const running = pool.run(hasExited, undefined, aborted.signal);
    setTimeout(() => aborted.abort('aborted'), 50);
    await expect(running).rejects.toBe('aborted');
    await pool[Symbol.asyncDispose]();
    expect(hasExited[0]).toBe(1);
  });

  it('ends a thread that would never end', async () => {
    const pool = poolOf(OR_FOREVER, { maxThreads: 1, tasksPerThread: 2 });
    const outcomes = Promise.allSettled([1, 2, 3].map(() => pool.run('forever')));
    await pool[Symbol.asyncDispose]();
    const closed = { status: 'rejected', reason: { message: 'The threads have been closed.' } };
    expect(await outcomes).toMatchObject([closed, closed, closed]);
    await expect(pool.run(1)).rejects.toThrow('closed');
  });
});
