import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import JSZip from 'jszip';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { until } from '../../../tools/vitest/until.ts';
import { startFakeProvider } from '../../worker/test/fake-provider.ts';
import { type LogLine, runService, type ServiceProcess } from './faults/run-service.ts';
import { makeDataFolder } from './make-data-folder.ts';

/** Holds the data folders: tests that do not need an empty one share one. */
let folder: string;
const running = new Set<ServiceProcess>();
beforeAll(async () => {
  folder = await makeDataFolder('svc-standalone-');
});
afterEach(async () => {
  for (const service of running) if (!service.hasEnded()) await service.end('SIGTERM');
  running.clear();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(env: Record<string, string> = {}, name = 'shared'): Promise<ServiceProcess> {
  const service = await runService({ app: 'standalone', dataDir: join(folder, name), env });
  running.add(service);
  return service;
}

const filler = JSON.stringify({ text: 'word '.repeat(80) });

async function upload(service: ServiceProcess, name: string, items: number): Promise<Response> {
  const zip = new JSZip();
  const lines = Array.from(
    { length: items },
    (_, index) =>
      `{"id":${index},"type":"exact","inputs":{"prompt":"${index}"},"answer":"${index}","meta":${filler}}`,
  );
  zip.file('sections/default.jsonl', `${lines.join('\n')}\n`);
  const form = new FormData();
  const archive = await zip.generateAsync({
    type: 'uint8array',
    compression: 'DEFLATE',
    compressionOptions: { level: 1 },
  });
  form.append('file', new Blob([archive as Uint8Array<ArrayBuffer>]), 'x.pkg.zip');
  form.append('name', name);
  return fetch(`${service.url}/datasets/upload`, { method: 'POST', body: form });
}

const isLargeImport = ({ event, bytes }: LogLine): boolean =>
  event === 'dataset.import.start' && Number(bytes) > 10_000;

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
async function send(service: ServiceProcess, path: string, body?: object): Promise<any> {
  const response = await fetch(service.url + path, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
  });
  const text = await response.text();
  return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
}

const names = async (service: ServiceProcess): Promise<string[]> => {
  const page = (await (await fetch(`${service.url}/datasets`)).json()) as { data: { name: string }[] };
  return page.data.map(({ name }) => name).sort();
};

describe('npm start', () => {
  it('brings its own database, finishes what it accepted, and continues after it was killed', async () => {
    let isHeld = true;
    await using provider = await startFakeProvider((prompt) =>
      isHeld && Number(prompt) >= 20 ? 'hang' : { text: prompt },
    );
    const cache = join(process.execPath, 'cache');
    const first = await start({ SVC_HUB_CACHE_DIR: cache });
    await expect.poll(first.stderr).toContain(first.url);
    await expect.poll(first.stderr).toContain('curl');
    await until(first.log, (log) => log.some(({ event }) => event === 'hub.cache.fail'));
    expect(first.log()).toContainEqual(
      expect.objectContaining({ level: 'warn', folder: cache, code: 'ENOTDIR' }),
    );
    const stored = await upload(first, 'kept', 50);
    expect(stored.status).toBe(201);
    const accepted = upload(first, 'accepted', 10_000);
    await until(first.log, (log) => log.some(isLargeImport));
    const ended = first.end('SIGTERM');
    expect((await accepted).status).toBe(201);
    expect(await ended).toBe(0);
    expect(first.log().at(-1)).toMatchObject({
      service: 'svc-standalone',
      event: 'server.stop',
      exit_code: 0,
    });
    const told = first
      .log()
      .map(({ event }) => event)
      .filter((event) => /^(database|server)\./.test(String(event)));
    expect(told.slice(0, 1)).toEqual(['database.start']);
    expect(told.slice(-3)).toEqual(['server.drain', 'database.stop', 'server.stop']);

    const second = await start();
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
    expect(await names(second)).toEqual(['accepted', 'kept']);
    const { id } = (await stored.json()) as { id: string };
    const config = { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } };
    const run = await send(second, '/runs', { dataset_id: id, config });
    await expect.poll(async () => (await send(second, `/runs/${run.id}`)).counts.done).toBe(20);
    await expect.poll(() => send(second, '/metrics')).toContain('svc_run_items_total{status="ok"} 20');
    await expect.poll(() => send(second, '/metrics')).toMatch(/^runs_cancel_poll_count [1-9]/m);
    const lost = upload(second, 'half', 30_000).catch(() => undefined);
    await until(second.log, (log) => log.some(isLargeImport));
    await second.end('SIGKILL');
    await lost;

    isHeld = false;
    const third = await start();
    expect(await names(third)).toEqual(['accepted', 'kept']);
    const files = await readdir(join(folder, 'shared/spool'), { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile())).toEqual([]);
    expect((await upload(third, 'after', 3)).status).toBe(201);
    await expect.poll(async () => (await send(third, `/runs/${run.id}`)).status).toBe('completed');
    expect((await send(third, `/runs/${run.id}`)).counts).toMatchObject({ total: 50, done: 50, ok: 50 });
    await expect.poll(() => send(third, '/metrics')).toContain('svc_runs_total{status="completed"} 1');
    expect(third.log().find((line) => line['event'] === 'worker.run.start')).toMatchObject({
      service: 'svc-standalone',
      run_id: run.id,
      items_done: 20,
      attempt: 2,
    });
    expect([...provider.asked.values()].filter((times) => times > 1).length).toBeLessThanOrEqual(8);
  });

  it.runIf(IS_LONG)('exports the same bytes in every time zone and locale', async () => {
    const exported = async (env: Record<string, string>, name: string): Promise<Buffer> => {
      const service = await start(env, name);
      const answer = await upload(service, 'İstanbul ı', 50);
      const { id } = (await answer.json()) as { id: string };
      const archive = await fetch(`${service.url}/datasets/${id}/export`);
      const bytes = Buffer.from(await archive.arrayBuffer());
      await service.end('SIGTERM');
      return bytes;
    };
    const here = await exported({ TZ: 'UTC', LC_ALL: 'C' }, 'shared');
    const turkish = { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' };
    // the database is made there as well
    const there = await exported(turkish, 'turkish');
    expect(there.equals(here)).toBe(true);
  });
});
