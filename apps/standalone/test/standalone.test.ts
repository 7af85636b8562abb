import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import JSZip from 'jszip';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeDataFolder } from '../../../packages/embedded-postgres/test/make-data-folder.ts';
import { type RunningStandalone, runStandalone } from './run-standalone.ts';

/** Holds the data folders: tests that do not need an empty one share one. */
let folder: string;
const running = new Set<RunningStandalone>();
beforeAll(async () => {
  folder = await makeDataFolder('svc-standalone-');
});
afterEach(async () => {
  for (const service of running) if (service.child.exitCode === null) await service.end('SIGTERM');
  running.clear();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(env: Record<string, string> = {}, name = 'shared'): Promise<RunningStandalone> {
  const service = await runStandalone(join(folder, name), env);
  running.add(service);
  return service;
}

async function upload(service: RunningStandalone, name: string, items: number): Promise<Response> {
  const zip = new JSZip();
  const lines = Array.from(
    { length: items },
    (_, index) => `{"id":${index},"inputs":{"prompt":"${'word '.repeat(80)}"}}`,
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

const names = async (service: RunningStandalone): Promise<string[]> => {
  const page = (await (await fetch(`${service.url}/datasets`)).json()) as { data: { name: string }[] };
  return page.data.map(({ name }) => name);
};

describe('npm start', () => {
  it('brings its own database, keeps what was stored over a restart, and says where it is', async () => {
    const first = await start();
    await expect.poll(first.stderr).toContain(first.url);
    await expect.poll(first.stderr).toContain('curl');
    expect((await upload(first, 'kept', 3)).status).toBe(201);
    expect(await first.end('SIGTERM')).toBe(0);
    const last = first.log.at(-1);
    expect(last).toMatchObject({ service: 'svc-standalone', event: 'server.stop', exit_code: 0 });
    const told = first.log
      .map(({ event }) => event)
      .filter((event) => /^(database|server)\./.test(String(event)));
    expect(told.slice(0, 1)).toEqual(['database.start']);
    expect(told.slice(-3)).toEqual(['server.drain', 'database.stop', 'server.stop']);
    const second = await start();
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
    expect(await names(second)).toEqual(['kept']);
  });

  it('leaves no trace of an import that was killed half-way', async () => {
    const first = await start();
    expect((await upload(first, 'before', 3)).status).toBe(201);
    const lost = upload(first, 'half', 30_000).catch(() => undefined);
    await first.logged(
      (line) => line['event'] === 'dataset.import.start' && (line['bytes'] as number) > 100_000,
    );
    await first.end('SIGKILL');
    await lost;
    const second = await start();
    expect(await names(second)).toContain('before');
    expect(await names(second)).not.toContain('half');
    const files = await readdir(join(folder, 'shared/spool'), { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile())).toEqual([]);
    expect((await upload(second, 'after', 3)).status).toBe(201);
  });

  it('finishes what it accepted when it stops', async () => {
    const service = await start();
    const answer = upload(service, 'accepted', 10_000);
    await service.logged((line) => line['event'] === 'dataset.import.start');
    const ended = service.end('SIGTERM');
    expect((await answer).status).toBe(201);
    expect(await ended).toBe(0);
  });

  it('warns of a folder for hub files that it cannot write to', async () => {
    const cache = join(process.execPath, 'cache');
    const service = await start({ SVC_HUB_CACHE_DIR: cache });
    await service.logged(({ event }) => event === 'hub.cache.fail');
    expect(service.log).toContainEqual(
      expect.objectContaining({ level: 'warn', folder: cache, code: 'ENOTDIR' }),
    );
  });

  it('explains in one sentence why it cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    await expect(runStandalone(join(folder, 'shared'), { SVC_PORT: String(port) })).rejects.toThrow(
      /Cannot start svc-standalone: Cannot listen on 127\.0\.0\.1:\d+: the port is in use/,
    );
    taken.close();
    await expect(runStandalone(join(folder, 'shared'), { SVC_PROT: '1' })).rejects.toThrow(
      /SVC_PROT is an unknown environment variable/,
    );
    await expect(
      runStandalone(join(folder, 'shared'), { DATABASE_URL: 'postgresql://user@127.0.0.1:1/x' }),
    ).rejects.toThrow(/Cannot start/);
  });

  it('exports the same bytes in every time zone and locale', async () => {
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
