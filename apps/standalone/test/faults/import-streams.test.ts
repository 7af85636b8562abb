import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createStore, type Store } from '@svc/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { report, tally, times } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { type FaultyDatabase, startDatabase } from './start-database.ts';
import { ask, listDatasets, outcomeOf, type ServiceResponse, verifyDataset } from './stored-datasets.ts';

/** More rows than one connection copies alone. */
const ITEMS = 4_500;
const AREA = 'Imports over several connections';

let cleanUp: AsyncDisposableStack;
let database: FaultyDatabase;
let service: ServiceProcess;
/** Reaches the database past the line, as a worker on another machine does. */
let other: Store;
let archive: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  database = cleanUp.use(await startDatabase());
  other = cleanUp.use(createStore({ url: database.directUrl(), poolSize: 4 }));
  archive = samplePackage(ITEMS, 3_000);
  service = await startApi();
});
afterAll(() => cleanUp.disposeAsync());

async function startApi(): Promise<ServiceProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-streams-'));
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }));
  const env = { DATABASE_URL: database.url, SVC_IMPORT_STREAMS: '4', SVC_WORKER_CONCURRENCY: '1' };
  return cleanUp.use(await runService({ app: 'api', dataDir, env }));
}

const upload = (): Promise<ServiceResponse> =>
  ask(`${service.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive, 'large') });
const query = async (sql: string): Promise<Record<string, number>> => (await database.query(sql))[0];

/** What the import of an upload that was disturbed has left: every dataset is complete, and nothing else remains. */
async function expectAllOrNothing(response: ServiceResponse): Promise<void> {
  const list = await listDatasets(service.url);
  if (response.status === 201) expect(list.map(({ id }) => id)).toContain(response.body.id);
  for (const dataset of list) expect(await verifyDataset(service.url, dataset)).toEqual([]);
  // The server may still be ending what the process left.
  await expect
    .poll(async () => {
      await other.datasets.collect();
      return await query(`SELECT (SELECT count(*)::int FROM loose_sections) AS noted, count(*)::int AS items
      FROM items WHERE section_id NOT IN (SELECT id FROM sections)`);
    })
    .toEqual({ noted: 0, items: 0 });
  for (const { id } of list) await ask(`${service.url}/datasets/${id}`, { method: 'DELETE' });
  await other.datasets.collect();
}

/** Uploads over a line that is slow enough to be disturbed. @returns the upload, when several connections copy */
async function uploadUntilCopying(): Promise<{ readonly uploading: Promise<ServiceResponse> }> {
  database.line.line = { delayMs: 20 };
  const uploading = upload();
  let hasEnded = false;
  void uploading.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const { copies = 0 } = await query('SELECT count(*)::int AS copies FROM pg_stat_progress_copy');
    if (copies > 1) break;
    await delay(2);
  }
  return { uploading };
}

it('are complete or absent when the process is killed, and leave nothing', {
  timeout: times(600_000, 180_000),
}, async (context) => {
  const responses: ServiceResponse[] = [];
  for (let round = 0; round < times(40, 1); round += 1) {
    const { uploading } = await uploadUntilCopying();
    await delay(round * 10);
    await service.end('SIGKILL');
    database.line.line = 'passes';
    const response = await uploading;
    responses.push(response);
    service = await startApi();
    await expectAllOrNothing(response);
  }
  report(context, {
    area: AREA,
    scenario: 'SIGKILL of the process while several connections copy',
    expected: 'the dataset is complete or absent, and no row is left after a collection',
    runs: responses.length,
    observed: tally(responses.map(outcomeOf)),
  });
});

it('leave rows that nothing shows when the process is killed between two commits', async (context) => {
  // The connections have committed; the transaction that makes their rows visible has not.
  database.line.loseResponseTo = 'DELETE FROM loose_sections';
  const uploading = upload();
  while ((await query('SELECT count(*)::int AS rows FROM items')).rows === 0) await delay(2);
  await service.end('SIGKILL');
  database.line.loseResponseTo = null;
  const response = await uploading;
  service = await startApi();
  expect(await listDatasets(service.url)).toEqual([]);
  await expect.poll(() => other.datasets.collect()).toBeGreaterThan(0);
  await expectAllOrNothing(response);
  report(context, {
    area: AREA,
    scenario: 'SIGKILL of the process after the connections committed, before the dataset was',
    expected: 'the dataset is absent, and its rows are removed by a collection',
    runs: 1,
    observed: { [outcomeOf(response)]: 1 },
  });
});

it('fail when the database restarts, and the next one works', {
  timeout: times(300_000, 180_000),
}, async (context) => {
  const responses: ServiceResponse[] = [];
  for (let round = 0; round < times(10, 1); round += 1) {
    const { uploading } = await uploadUntilCopying();
    await database.restart();
    database.line.line = 'passes';
    responses.push(await uploading);
    await expect.poll(async () => (await ask(`${service.url}/readyz`)).status, { timeout: 15_000 }).toBe(200);
    await expectAllOrNothing(responses.at(-1) as ServiceResponse);
  }
  expect(tally(responses.map(outcomeOf))).toEqual({ '503 unavailable': responses.length });
  const next = await upload();
  expect(next.status).toBe(201);
  await expectAllOrNothing(next);
  report(context, {
    area: AREA,
    scenario: 'the database restarts while several connections copy',
    expected: '503, nothing is stored, and the next import works',
    runs: responses.length,
    observed: tally(responses.map(outcomeOf)),
  });
});
