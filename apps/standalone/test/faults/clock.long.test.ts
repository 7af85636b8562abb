import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataFolder } from '../make-data-folder.ts';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { samplePackage, uploadForm } from './sample-packages.ts';
import { ask, listDatasets, outcomeOf, verifyDataset } from './stored-datasets.ts';

/** Loaded before the service: its wall clock jumps, to and fro, every few milliseconds. Its monotonic clock does not. */
const JUMPING_CLOCK = `
const { Date: TrueDate } = globalThis;
const HOUR = 3_600_000;
const JUMPS = [0, HOUR, -HOUR, 24 * HOUR, -24 * HOUR, 365 * 24 * HOUR, 0, -5 * 365 * 24 * HOUR];
const now = () => TrueDate.now() + JUMPS[Math.floor(performance.now() / 37) % JUMPS.length];
globalThis.Date = class Date extends TrueDate {
  constructor(...parts) {
    if (parts.length === 0) super(now());
    else super(...parts);
  }
  static now() {
    return now();
  }
};
`;

let cleanUp: AsyncDisposableStack;
let service: ServiceProcess;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  const dataDir = await makeDataFolder('svc-faults-');
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  const clock = join(dataDir, 'jumping-clock.mjs');
  await writeFile(clock, JUMPING_CLOCK);
  service = await runService({
    app: 'standalone',
    dataDir,
    nodeArguments: ['--import', pathToFileURL(clock).href],
    env: { SVC_RATE_LIMIT_PER_MINUTE: '100000' },
  });
  cleanUp.defer(async () => void (await service.end('SIGTERM')));
});
afterAll(() => cleanUp.disposeAsync());

describe('a wall clock that jumps by hours and years', () => {
  it('disturbs no upload, job, run, limit or list', async (context) => {
    const count = 100;
    const found: string[] = [];
    const upload = (name: string, headers: Record<string, string> = {}) =>
      ask(`${service.url}/datasets/upload`, {
        method: 'POST',
        body: uploadForm(samplePackage(30, 200, count), name),
        headers,
      });
    for (let index = 0; index < count; index++) found.push(outcomeOf(await upload(`clock ${index}`)));
    expect(tally(found)).toEqual({ 201: count });
    const stored = await listDatasets(service.url);
    // newest first: the time of a dataset is the database's, not the process's
    expect(stored.map(({ name }) => name)).toEqual(
      Array.from({ length: count }, (_, index) => `clock ${count - 1 - index}`),
    );
    for (const dataset of stored) expect(await verifyDataset(service.url, dataset)).toEqual([]);

    const job = await upload('as a job', { Prefer: 'respond-async' });
    const run = await ask(`${service.url}/runs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        dataset_id: stored[0].id,
        config: { provider: { type: 'echo' }, allow_unscored: true },
      }),
    });
    expect([job.status, run.status]).toEqual([202, 202]);
    const statusOf = async (path: string): Promise<string> => (await ask(service.url + path)).body.status;
    await expect.poll(() => statusOf(`/jobs/${job.body.id}`)).toBe('succeeded');
    await expect.poll(() => statusOf(`/runs/${run.body.id}`)).toBe('completed');
    for (let index = 0; index < 50; index++) {
      expect((await ask(`${service.url}/datasets?limit=1`)).status).toBe(200);
    }

    const changed = await ask(`${service.url}/datasets/${stored[0].id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: '{"notes":"x"}',
    });
    expect(Date.parse(changed.body.updated_at)).toBeGreaterThanOrEqual(Date.parse(changed.body.created_at));
    expect(Math.abs(Date.parse(changed.body.updated_at) - Date.now())).toBeLessThan(60_000);
    report(context, {
      area: 'The clock',
      scenario:
        'the wall clock of the process jumps by hours, days and years every 37 ms: uploads, a job, a run, a change, lists under a rate limit',
      expected: 'no effect: timeouts use the monotonic clock, stored times are the database’s',
      runs: count + 3,
      observed: { ...tally(found), 'job succeeded': 1, 'run completed': 1, 'change dated right': 1 },
    });
  });
});
