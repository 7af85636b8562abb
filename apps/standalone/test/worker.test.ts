import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeDataFolder } from '../../../packages/embedded-postgres/test/make-data-folder.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { startFakeProvider } from '../../worker/test/fake-provider.ts';
import { type RunningStandalone, runStandalone } from './run-standalone.ts';

let cleanUp: AsyncDisposableStack;
let dataDir: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  dataDir = await makeDataFolder('svc-standalone-');
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }));
});
afterEach(() => cleanUp.disposeAsync());

async function start(): Promise<RunningStandalone> {
  const service = await runStandalone(dataDir);
  cleanUp.defer(async () => {
    if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGTERM');
  });
  return service;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
async function send(service: RunningStandalone, path: string, body?: object | FormData): Promise<any> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${service.url}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
    headers: body === undefined || isForm ? {} : { 'content-type': 'application/json' },
  });
  const text = await response.text();
  return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
}

it('runs what it is given, continues after it was killed, and shows both in its metrics', async () => {
  let hold = true;
  const provider = cleanUp.use(
    await startFakeProvider((prompt) => (hold && Number(prompt) >= 20 ? 'hang' : { text: prompt })),
  );
  const lines = Array.from(
    { length: 50 },
    (_, index) => `{"type":"exact","inputs":{"prompt":"${index}"},"answer":"${index}"}`,
  );
  const first = await start();
  const archive = await makePackage({ 'sections/default.jsonl': lines.join('\n') });
  const dataset = await send(first, '/datasets/upload', uploadForm(archive));
  const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
  const run = await send(first, '/runs', { dataset_id: dataset.id, config });
  await expect.poll(async () => (await send(first, `/runs/${run.id}`)).counts.done).toBe(20);
  await expect.poll(() => send(first, '/metrics')).toContain('svc_run_items_total{status="ok"} 20');
  await expect.poll(() => send(first, '/metrics')).toMatch(/^runs_cancel_poll_count [1-9]/m);
  await first.end('SIGKILL');

  hold = false;
  const second = await start();
  await expect
    .poll(async () => (await send(second, `/runs/${run.id}`)).status, { timeout: 60_000 })
    .toBe('completed');
  expect((await send(second, `/runs/${run.id}`)).counts).toMatchObject({ total: 50, done: 50, ok: 50 });
  await expect.poll(() => send(second, '/metrics')).toContain('svc_runs_total{status="completed"} 1');
  expect(second.log.find((line) => line['event'] === 'worker.run.start')).toMatchObject({
    service: 'svc-standalone',
    run_id: run.id,
    items_done: 20,
    attempt: 2,
  });
  expect([...provider.asked.values()].filter((times) => times > 1).length).toBeLessThanOrEqual(8);
});
