import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';
import { samplePackage } from './sample-packages.ts';
import { type FaultyDatabase, startDatabase } from './start-database.ts';
import {
  ask,
  CLOSED,
  fateOf,
  LEFTOVERS,
  listDatasets,
  NO_LEFTOVERS,
  outcomeOf,
  type ServiceResponse,
  upload,
  verifyDataset,
} from './stored-datasets.ts';

const AREA = 'Resource exhaustion';
let cleanUp: AsyncDisposableStack;
let database: FaultyDatabase;
let folder: string;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  database = cleanUp.use(await startDatabase());
});
afterAll(() => cleanUp.disposeAsync());

/** A small file system in memory, where this may be mounted: as root on Linux. */
async function mountSmall(name: string, size: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'ignore' });
  cleanUp.defer(() => void execFileSync('umount', ['-l', path]));
  return path;
}
const resize = (path: string, size: string): void =>
  void execFileSync('mount', ['-o', `remount,size=${size}`, path], { stdio: 'ignore' });

const canMount = await (async () => {
  const path = await mkdtemp(join(tmpdir(), 'svc-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path], { stdio: 'ignore' });
    execFileSync('umount', [path]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(path, { recursive: true, force: true });
  }
})();

/** Uploads that do not fit, and one that does after each. */
async function uploadTooMuch(
  service: ServiceProcess,
  label: string,
  makeRoom: () => Promise<unknown> = async () => {},
): Promise<{ large: ServiceResponse[]; small: ServiceResponse[] }> {
  const archive = samplePackage(400, 20_000, 3);
  const large: ServiceResponse[] = [];
  const small: ServiceResponse[] = [];
  for (let round = 0; round < 20; round++) {
    large.push(
      ...(await Promise.all([1, 2].map((which) => upload(service, `${label} ${round} ${which}`, archive)))),
    );
    await expect.poll(() => service.stagedFiles()).toEqual([]);
    await makeRoom();
    small.push(await upload(service, `${label} small ${round}`, samplePackage(5, 50, round)));
  }
  return { large, small };
}

async function expectRefused(
  context: Parameters<typeof report>[0],
  service: ServiceProcess,
  label: string,
  found: { large: ServiceResponse[]; small: ServiceResponse[] },
  scenario: string,
  cause: string,
): Promise<void> {
  expect(tally(found.large.map(outcomeOf))).toEqual({ '503 unavailable': found.large.length });
  for (const { headers } of found.large) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  for (const { body } of found.large) expect(body.detail).toMatch(/no room|at capacity/);
  expect(tally(found.small.map(outcomeOf))).toEqual({ 201: found.small.length });
  const told = service.log().filter((line) => line['event'] === 'error.unavailable');
  expect(JSON.stringify(told[0])).toContain(cause);
  const stored = (await listDatasets(service.url)).filter(({ name }) => name.startsWith(label));
  expect(stored).toHaveLength(found.small.length);
  for (const dataset of stored) expect(await verifyDataset(service.url, dataset)).toEqual([]);
  expect(await database.query(LEFTOVERS)).toEqual(NO_LEFTOVERS);
  report(context, {
    area: AREA,
    scenario,
    expected:
      '503 `unavailable` with `Retry-After`, the cause in the log, nothing stored; uploads that fit succeed',
    runs: found.large.length + found.small.length,
    observed: tally([...found.large, ...found.small].map(outcomeOf)),
  });
}

describe('uploads that do not fit', () => {
  it.skipIf(process.platform === 'win32')('on a disk with a quota for each file', async (context) => {
    const service = cleanUp.use(
      await runService({
        app: 'api',
        dataDir: join(folder, 'quota'),
        env: { DATABASE_URL: database.url },
        // blocks of 1,024 bytes
        limits: 'ulimit -f 1000',
      }),
    );
    const found = await uploadTooMuch(service, 'quota');
    await expectRefused(
      context,
      service,
      'quota',
      found,
      'an upload exceeds the file size that the system allows',
      'EFBIG',
    );
  });

  it.skipIf(!canMount)('on the disk of the spool', async (context) => {
    const dataDir = await mountSmall('spool', '1m');
    const service = cleanUp.use(
      await runService({ app: 'api', dataDir, env: { DATABASE_URL: database.url } }),
    );
    const found = await uploadTooMuch(service, 'spool');
    await expectRefused(
      context,
      service,
      'spool',
      found,
      'the disk for uploads is full',
      'no disk space is left',
    );
  });

  it.skipIf(!canMount)('on the disk of the database', async (context) => {
    const path = await mountSmall('tablespace', '4m');
    const owner = await stat(`/proc/${await database.pid()}`);
    for (const part of [folder, path]) await chown(part, owner.uid, owner.gid);
    await database.query(`CREATE TABLESPACE small LOCATION '${path}'`);
    await database.query('ALTER TABLE items SET TABLESPACE small');
    const service = cleanUp.use(
      await runService({ app: 'api', dataDir: join(folder, 'full'), env: { DATABASE_URL: database.url } }),
    );
    const found = await uploadTooMuch(service, 'full', async () => {
      // what was rolled back stays in the table until it is vacuumed, which needs room itself
      resize(path, '16m');
      await database.query('VACUUM items');
      resize(path, '4m');
    });
    await expectRefused(context, service, 'full', found, 'the disk of the database is full', '53100');
    await database.query('ALTER TABLE items SET TABLESPACE pg_default');
    expect((await upload(service, 'with room', samplePackage(400, 20_000, 4))).status).toBe(201);
  });
});

describe('an import into the embedded database', () => {
  it.skipIf(!canMount)('that would take most of the disk ends before, and leaves room', async (context) => {
    const dataDir = await mountSmall('embedded', '400m');
    const service = cleanUp.use(await runService({ app: 'standalone', dataDir }));
    const line = (): string => `${randomBytes(30_000).toString('hex')}\n`;
    const table = `a\n${Array.from({ length: 200 }, line).join('')}`;
    const store = (places: number): Promise<ServiceResponse> => {
      const form = new FormData();
      form.append('mapping', JSON.stringify({ prompt_template: '{a}'.repeat(places) }));
      form.append('format', 'csv');
      form.append('file', new Blob([table]), 'table.csv');
      return ask(`${service.url}/datasets/upload`, { method: 'POST', body: form });
    };
    const found: string[] = [];
    for (let run = 0; run < 5; run += 1) {
      const refused = await store(20);
      found.push(outcomeOf(refused));
      expect(refused.body.detail).toContain('no disk space is left for this import');
      const { bavail, bsize } = await statfs(dataDir);
      expect(bavail * bsize).toBeGreaterThan(16 * 1024 * 1024);
    }
    expect(tally(found)).toEqual({ '503 unavailable': found.length });
    expect(await listDatasets(service.url)).toEqual([]);
    expect((await upload(service, 'with room', samplePackage(40, 200, 4))).status).toBe(201);
    report(context, {
      area: AREA,
      scenario: 'an import into the embedded database that would take more than its share of the disk',
      expected: '503, nothing is stored, and a part of the disk stays free',
      runs: found.length,
      observed: tally(found),
    });
  });
});

describe('a server with fewer connections than asked for', () => {
  it('is worked with, or requests are refused', async (context) => {
    await database.query(`CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 3`);
    await database.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO few');
    await database.query('GRANT ALL ON SCHEMA public TO few');
    const url = new URL(database.url);
    [url.username, url.password] = ['few', 'few'];
    const service = cleanUp.use(
      await runService({ app: 'api', dataDir: join(folder, 'few'), env: { DATABASE_URL: url.href } }),
    );
    const responses = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        index % 6 === 0
          ? upload(service, `few ${index}`, samplePackage(5, 50, index))
          : ask(`${service.url}/datasets?limit=1`),
      ),
    );
    for (const answer of responses) expect(['200', '201', '503 unavailable']).toContain(outcomeOf(answer));
    for (const { headers } of responses.filter(({ status }) => status === 503)) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await expect.poll(async () => (await ask(`${service.url}/datasets`)).status).toBe(200);
    const stored = (await listDatasets(service.url)).filter(({ name }) => name.startsWith('few '));
    expect(stored).toHaveLength(responses.filter(({ status }) => status === 201).length);
    for (const dataset of stored) expect(await verifyDataset(service.url, dataset)).toEqual([]);
    report(context, {
      area: AREA,
      scenario: 'the database allows fewer connections than the pool size',
      expected:
        'a response, or 503 `unavailable` with `Retry-After`; every 201 is stored, and the service recovers',
      runs: responses.length,
      observed: tally(responses.map(outcomeOf)),
    });
  });
});

describe('a process with few file descriptors', () => {
  it.skipIf(process.platform !== 'linux')(
    'refuses what it cannot hold and continues when there are some again',
    async (context) => {
      const service = cleanUp.use(
        await runService({
          app: 'api',
          dataDir: join(folder, 'files'),
          env: { DATABASE_URL: database.url, SVC_HEADERS_TIMEOUT_MS: '2000' },
          limits: 'ulimit -n 70',
        }),
      );
      const ids = Array.from({ length: 400 }, () => randomUUID());
      const responses = await Promise.all(
        ids.map((id, index) =>
          upload(service, `files ${index}`, samplePackage(5, 50, index), { 'X-Request-ID': id }),
        ),
      );
      await expect.poll(async () => (await ask(`${service.url}/healthz`)).status).toBe(200);
      await expect
        .poll(async () => (await upload(service, 'files after', samplePackage(5))).status)
        .toBe(201);
      const fates = responses.map((answer, index) => fateOf(answer, ids[index] ?? '', service.lines));
      for (const fate of fates) expect(['201', '503 unavailable', CLOSED]).toContain(fate);
      await expect.poll(() => service.stagedFiles()).toEqual([]);
      const stored = (await listDatasets(service.url)).filter(({ name }) => name.startsWith('files '));
      const accepted = responses.filter(({ status }) => status === 201).length;
      expect(stored.length).toBeGreaterThanOrEqual(accepted + 1);
      for (const dataset of stored) expect(await verifyDataset(service.url, dataset)).toEqual([]);
      report(context, {
        area: AREA,
        scenario: 'uploads by more clients than file descriptors (70)',
        expected:
          'stored completely, refused with 503, or the connection is closed before a request is read; every request that was read gets a response, and the service recovers',
        runs: fates.length,
        observed: tally(fates),
      });
    },
  );
});
