import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCancelled } from '../run-error.ts';
import { packValue } from '../scoring/packed-value.ts';
import type { CheckTask } from '../scoring/plan-check.ts';
import { type CheckRunner, type CheckRunnerOptions, createCheckRunner } from './check-runner.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-checks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;

function task(type: string, output: JsonValue, answer: JsonValue, more: Partial<CheckTask> = {}): CheckTask {
  const values = { output: packValue(output), answer: packValue(answer), choices: null };
  return { kind: 'check', type, chars: 100_000, ...values, options: packValue({}), ...more };
}

/** A runner whose threads do what the output says, so that every end of a thread can be seen. */
async function scripted(options: CheckRunnerOptions = {}): Promise<CheckRunner> {
  const file = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(
    file,
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ output }) => {
       switch (output.text) {
         case 'hang': for (;;);
         case 'exit': process.exit(3);
         case 'fill': for (let held; ; ) held = { held, one: 1 };
         case 'throw': throw new TypeError('an internal mistake');
       }
       const outcome = { status: 'ok', score: 1, passed: true, explanation: JSON.stringify(process.env) };
       parentPort.postMessage({ kind: 'outcome', outcome });
     });
     parentPort.postMessage({ kind: 'ready' });`,
  );
  return createCheckRunner({ threads: 1, file: pathToFileURL(file), ...options });
}

describe('createCheckRunner', () => {
  it('checks on a thread as it would inline', async () => {
    await using inThread = createCheckRunner();
    await using inline = createCheckRunner({ threads: 0 });
    const big = new ExactNumber('12345678901234567890');
    const choices = packValue(['Paris', 'Rome']);
    const tasks = [
      task('exact_match', 'Paris', 'Paris'),
      task('exact_match', big, big),
      task('numeric', 'is 12345678901234567891', big),
      task('choice', 'It is Rome', 'B', { choices }),
      task('regex', 'abc', '^a.c$'),
      task('json_equal', '{"a": 12345678901234567890}', { a: big }),
    ];
    for (const one of tasks) expect(await inThread.run(one, never)).toEqual(await inline.run(one, never));
    await expect(inThread.run(task('regex', 'a', '('), never)).rejects.toMatchObject({
      name: 'RunError',
      code: 'checker_invalid',
    });
  });

  it('ends a check that takes too long and does the next one on a new thread', async () => {
    await using checks = await scripted({ deadlineMs: 1_000 });
    const late = checks.run(task('regex', 'hang', ''), never);
    const next = checks.run(task('regex', 'fine', ''), never);
    await expect(late).rejects.toMatchObject({ code: 'checker_limit', message: /longer than 1 seconds/ });
    expect(await next).toMatchObject({ passed: true });
  });

  it('does not count the time that a check waits for its turn', async () => {
    await using checks = await scripted({ deadlineMs: 1_000 });
    const ends = await Promise.allSettled(
      ['hang', 'hang', 'fine'].map((output) => checks.run(task('regex', output, ''), never)),
    );
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('ends a running or waiting check when its signal is aborted', async () => {
    await using checks = await scripted({ deadlineMs: 60_000 });
    const controller = new AbortController();
    const running = checks.run(task('regex', 'hang', ''), controller.signal);
    const waiting = checks.run(task('regex', 'hang', ''), controller.signal);
    const other = checks.run(task('regex', 'fine', ''), never);
    setTimeout(() => controller.abort(runCancelled()), 100);
    await expect(running).rejects.toMatchObject({ code: 'run_cancelled' });
    await expect(waiting).rejects.toMatchObject({ code: 'run_cancelled' });
    expect(await other).toMatchObject({ passed: true });
    await expect(checks.run(task('regex', 'fine', ''), controller.signal)).rejects.toMatchObject({
      code: 'run_cancelled',
    });
  });

  it('survives a thread that runs out of memory, ends or throws', async () => {
    await using checks = await scripted({ deadlineMs: 60_000, maxHeapMb: 64 });
    await expect(checks.run(task('regex', 'fill', ''), never)).rejects.toMatchObject({
      code: 'checker_limit',
      message: 'The check took too much memory.',
    });
    for (const end of ['exit', 'throw']) {
      await expect(checks.run(task('regex', end, ''), never)).rejects.toThrow('has died');
    }
    expect(await checks.run(task('regex', 'fine', ''), never)).toMatchObject({ passed: true });
  });

  it('gives its threads no secrets of the environment', async () => {
    await using checks = await scripted();
    expect(await checks.run(task('regex', 'fine', ''), never)).toMatchObject({ explanation: '{}' });
  });

  it('fails running and waiting checks when it is disposed', async () => {
    const checks = await scripted();
    const running = checks.run(task('regex', 'hang', ''), never);
    const waiting = checks.run(task('regex', 'hang', ''), never);
    const ends = Promise.allSettled([running, waiting]);
    await checks[Symbol.asyncDispose]();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(checks.run(task('regex', 'fine', ''), never)).rejects.toThrow('closed');
  });
});
