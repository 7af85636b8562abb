import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_LONG, times } from '../../../../tools/vitest/long.ts';
import { makeDataFolder } from '../make-data-folder.ts';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { ask, listDatasets, outcomeOf, type ServiceResponse, verifyDataset } from './stored-datasets.ts';

const AREA = 'The database of `npm start`';
let cleanUp: AsyncDisposableStack;
let dataDir: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  dataDir = await makeDataFolder('svc-faults-');
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
});
afterEach(() => cleanUp.disposeAsync());

const start = async (): Promise<ServiceProcess> =>
  cleanUp.use(await runService({ app: 'standalone', dataDir }));
const upload = (service: ServiceProcess, name: string): Promise<ServiceResponse> =>
  ask(`${service.url}/datasets/upload`, { method: 'POST', body: uploadForm(samplePackage(200, 500), name) });
const serverPid = async (): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);

async function expectWhole(service: ServiceProcess, names: readonly string[]): Promise<void> {
  const stored = await listDatasets(service.url);
  expect(stored.map(({ name }) => name).sort()).toEqual([...names].sort());
  for (const dataset of stored) expect(await verifyDataset(service.url, dataset)).toEqual([]);
}

describe.runIf(process.platform === 'linux')('the server of the embedded database', () => {
  it('killed: the service says so and ends, and the next start has everything', async (context) => {
    const rounds = times(10, 1);
    const names: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const service = await start();
      expect((await upload(service, `kept ${round}`)).status).toBe(201);
      names.push(`kept ${round}`);
      const lost = upload(service, `lost ${round}`);
      await delay(((round + 1) * 17) % 60);
      process.kill(await serverPid(), 'SIGKILL');
      if ((await lost).status === 201) names.push(`lost ${round}`);
      expect(await service.ended).toBe(1);
      expect(service.log().filter(({ event }) => event === 'server.fault')).toHaveLength(1);
      expect(service.log().at(-1)).toMatchObject({ event: 'server.stop', exit_code: 1 });
    }
    const last = await start();
    await expectWhole(last, names);
    expect(await last.end('SIGTERM')).toBe(0);
    report(context, {
      area: AREA,
      scenario: 'its server is killed during an upload',
      expected:
        'the service logs it and exits with code 1; the next start has every dataset with 201, complete',
      runs: rounds,
      observed: { 'exit code 1, all datasets kept': rounds },
    });
  });

  it.runIf(IS_LONG)('recovers by itself when its processes crash', async (context) => {
    const service = await start();
    const names: string[] = [];
    const found: string[] = [];
    for (let round = 0; round < times(10, 2); round++) {
      const answer = upload(service, `crash ${round}`);
      await delay((round * 11) % 40);
      const children = await killChildOf(await serverPid());
      const ended = await answer;
      found.push(outcomeOf(ended));
      if (ended.status === 201) names.push(`crash ${round}`);
      expect(['201', '503 unavailable']).toContain(outcomeOf(ended));
      // the server ends its other processes as well, but for one that may write its log
      await expect.poll(() => children.filter(isAlive).length).toBeLessThan(2);
      await expect.poll(async () => (await ask(`${service.url}/readyz`)).status).toBe(200);
      // that may be what was right a second ago
      await expect.poll(async () => (await ask(`${service.url}/datasets`)).status).toBe(200);
    }
    await expectWhole(service, names);
    expect(await service.end('SIGTERM')).toBe(0);
    report(context, {
      area: AREA,
      scenario: 'a process of its server is killed during an upload',
      expected: '201 and complete, or 503 and absent; recovers by itself',
      runs: found.length,
      observed: tally(found),
    });
  });

  // the tests of the embedded server kill its process too
  it.runIf(IS_LONG)('survives the service being killed by no more than a moment', async (context) => {
    const rounds = 10;
    for (let round = 0; round < rounds; round++) {
      const service = await start();
      const pid = await serverPid();
      void upload(service, `gone ${round}`);
      await delay(((round + 1) * 23) % 100);
      await service.end('SIGKILL');
      await expect.poll(() => isAlive(pid)).toBe(false);
    }
    const service = await start();
    for (const dataset of await listDatasets(service.url)) {
      expect(await verifyDataset(service.url, dataset)).toEqual([]);
    }
    expect(await service.end('SIGTERM')).toBe(0);
    report(context, {
      area: AREA,
      scenario: 'the service is killed during an upload',
      expected: 'its database server stops by itself; the next start has only complete datasets',
      runs: rounds,
      observed: { stopped: rounds },
    });
  });
});

/** Kills the youngest process of a server, and gives the ids of all. */
async function killChildOf(pid: number): Promise<number[]> {
  for (;;) {
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const children = (text.match(/\d+/g) ?? []).map(Number);
    const youngest = children.at(-1);
    try {
      if (youngest !== undefined && process.kill(youngest, 'SIGKILL')) return children;
    } catch {
      // it has just ended by itself
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
