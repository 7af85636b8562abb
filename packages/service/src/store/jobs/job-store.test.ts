import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allPages } from '../../../test/store/all-pages.ts';
import { claimTask } from '../../../test/store/claim-task.ts';
import { importItems } from '../../../test/store/import-items.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/store/template-db.ts';
import { actAs } from '../audit/actor.ts';
import { createStore, type Store } from '../create-store.ts';
import type { Job, NewJob, TakenJob } from './job-store.ts';

let database: TestDatabase;
let store: Store;
let plain: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore({ url: database.url, poolSize: 6 });
  plain = new pg.Pool({ connectionString: database.url });
});
afterAll(async () => {
  await store.close();
  await plain.end();
  await database.drop();
});

const takeJob = async (id: string): Promise<TakenJob | null> =>
  store.jobs.take(await claimTask(plain, 'jobs', id));

const createJob = (facts: Partial<NewJob> = {}): Promise<Job> =>
  store.jobs.create({
    id: randomUUID(),
    kind: 'import',
    request: '{"path":"a/b"}',
    requestId: 'r',
    ...facts,
  });

async function* archiveOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
const archiveBytes = async (id: string): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for (let chunk = await store.jobs.readArchiveChunk(id, 0); chunk !== null; ) {
    chunks.push(chunk);
    chunk = await store.jobs.readArchiveChunk(id, chunks.length);
  }
  return Buffer.concat(chunks);
};
/** No secret outlives its job. */
const tokenLeft = async (id: string): Promise<Uint8Array | null> =>
  (await plain.query('SELECT sealed_token FROM jobs WHERE id = $1', [id])).rows[0].sealed_token;
const chunksLeft = async (id: string): Promise<number> =>
  (await plain.query('SELECT FROM job_chunks WHERE job_id = $1', [id])).rowCount ?? 0;

describe('an import job', () => {
  it('is stored with its task, taken, reported and ended by its dataset', async () => {
    const job = await createJob({ sealedToken: Uint8Array.of(0, 1, 255), bytesTotal: 2 ** 40 });
    expect(job).toMatchObject({
      kind: 'import',
      status: 'queued',
      progress: { rowsDone: 0, rowsTotal: null, bytesDone: 0, bytesTotal: 2 ** 40 },
      datasetId: null,
      error: null,
    });
    expect(await store.jobs.get(job.id)).toEqual(job);
    const { rows } = await plain.query('SELECT lease_expires_at, available_at FROM jobs WHERE id = $1', [
      job.id,
    ]);
    expect(rows).toEqual([{ lease_expires_at: null, available_at: expect.any(Date) }]);

    const taken = (await takeJob(job.id))!;
    expect(taken).toMatchObject({ request: '{"path":"a/b"}', job: { status: 'running' } });
    expect([...(taken.sealedToken ?? [])]).toEqual([0, 1, 255]);
    const progress = { rowsDone: 2 ** 33, rowsTotal: 2 ** 34, bytesDone: 7, bytesTotal: null };
    await store.jobs.report(taken.claim, progress);
    expect((await store.jobs.get(job.id)).progress).toEqual(progress);
    // a worker that begins again is behind
    await store.jobs.report(taken.claim, { ...progress, rowsDone: 1, bytesDone: 1 });
    expect((await store.jobs.get(job.id)).progress).toEqual(progress);

    const dataset = await importItems(store.datasets, { s: ['{}'] }, {}, { job: taken.claim });
    expect(await store.jobs.get(job.id)).toMatchObject({ status: 'succeeded', datasetId: dataset.id });
    expect(await takeJob(job.id)).toBeNull();
    expect(await tokenLeft(job.id)).toBeNull();

    await store.datasets.delete(dataset.id);
    expect(await store.jobs.get(job.id)).toMatchObject({ status: 'succeeded', datasetId: null });
  });

  it('makes one dataset, even when a worker that was thought dead comes back', async () => {
    const job = await createJob();
    const old = (await takeJob(job.id))!;
    const current = (await takeJob(job.id))!;
    const count = async (): Promise<number> => (await store.datasets.list({ limit: 1 })).totalItems;
    const before = await count();
    await expect(importItems(store.datasets, { s: ['{}'] }, {}, { job: old.claim })).rejects.toMatchObject({
      code: 'superseded',
    });
    await expect(store.jobs.report(old.claim, job.progress)).rejects.toMatchObject({ code: 'superseded' });
    await importItems(store.datasets, { s: ['{}'] }, {}, { job: current.claim });
    await expect(
      importItems(store.datasets, { s: ['{}'] }, {}, { job: current.claim }),
    ).rejects.toMatchObject({
      code: 'job_finished',
    });
    expect(await count()).toBe(before + 1);
  });

  it('stores no dataset once its cancel was asked for', async () => {
    const job = await createJob();
    const { claim } = (await takeJob(job.id))!;
    expect((await store.jobs.requestCancel(job.id)).status).toBe('cancelling');
    await expect(importItems(store.datasets, { s: ['{}'] }, {}, { job: claim })).rejects.toMatchObject({
      code: 'job_finished',
    });
    expect((await store.cancellationsAmong([job.id])).cancelled).toEqual([job.id]);
    expect((await store.jobs.finish(claim, { status: 'cancelled' })).status).toBe('cancelled');
    expect((await store.jobs.requestCancel(job.id)).status).toBe('cancelled');
  });

  it('is cancelled immediately while no worker has it', async () => {
    const job = await createJob({ sealedToken: Uint8Array.of(1) });
    expect(await store.jobs.requestCancel(job.id)).toMatchObject({
      status: 'cancelled',
      finishedAt: expect.any(Date),
    });
    expect(await takeJob(job.id)).toBeNull();
    expect(await tokenLeft(job.id)).toBeNull();
  });

  it('fails with its error', async () => {
    const job = await createJob({ sealedToken: Uint8Array.of(1) });
    const { claim } = (await takeJob(job.id))!;
    const error = '{"code":"hub_unavailable"}';
    expect(await store.jobs.finish(claim, { status: 'failed', error })).toMatchObject({
      status: 'failed',
      error,
    });
    expect(await tokenLeft(job.id)).toBeNull();
    await expect(store.jobs.finish(claim, { status: 'cancelled' })).rejects.toMatchObject({
      code: 'job_finished',
    });
    await expect(store.jobs.report(claim, job.progress)).rejects.toMatchObject({ code: 'job_finished' });
  });

  it.each(['no uuid', randomUUID()])('is named when it is not there: %s', async (id) => {
    await expect(store.jobs.get(id)).rejects.toMatchObject({ code: 'job_not_found' });
    await expect(store.jobs.requestCancel(id)).rejects.toMatchObject({ code: 'job_not_found' });
  });

  it('fails after its last attempt, or is cancelled when that was asked for', async () => {
    const lost = await createJob({ sealedToken: Uint8Array.of(1) });
    const cancelled = await createJob();
    await takeJob(lost.id);
    await takeJob(cancelled.id);
    await store.jobs.requestCancel(cancelled.id);
    expect(await store.jobs.fail(lost.id, '{"code":"worker_lost"}')).toBe('failed');
    expect(await store.jobs.fail(cancelled.id, '{"code":"worker_lost"}')).toBe('cancelled');
    expect(await store.jobs.fail(lost.id, '{}')).toBeNull();
    expect(await tokenLeft(lost.id)).toBeNull();
    expect((await store.jobs.get(lost.id)).error).toContain('worker_lost');
    expect(await store.jobs.get(cancelled.id)).toMatchObject({ status: 'cancelled', error: null });
  });
});

describe('an upload job', () => {
  it('carries its archive, byte for byte, until it ends', async () => {
    const archive = crypto.getRandomValues(new Uint8Array(60_000));
    const chunks = [
      archive.subarray(0, 1),
      archive.subarray(1, 50_000),
      new Uint8Array(0),
      archive.subarray(50_000),
    ];
    const job = await createJob({ kind: 'upload', archive: archiveOf(...chunks) });
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(Buffer.compare(await archiveBytes(job.id), Buffer.from(archive))).toBe(0);
    }
    const { claim } = (await takeJob(job.id))!;
    await importItems(store.datasets, { s: ['{}'] }, {}, { job: claim });
    expect(await chunksLeft(job.id)).toBe(0);
  });

  it.each(['failed', 'cancelled', 'failed at the last attempt', 'cancelled while it waited'])(
    'loses its archive when it has %s',
    async (how) => {
      const job = await createJob({ kind: 'upload', archive: archiveOf(Uint8Array.of(1)) });
      expect(await chunksLeft(job.id)).toBe(1);
      if (how === 'cancelled while it waited') await store.jobs.requestCancel(job.id);
      else {
        const { claim } = (await takeJob(job.id))!;
        if (how === 'failed') await store.jobs.finish(claim, { status: 'failed', error: '{}' });
        else if (how === 'cancelled') await store.jobs.finish(claim, { status: 'cancelled' });
        else await store.jobs.fail(job.id, '{}');
      }
      expect(await chunksLeft(job.id)).toBe(0);
    },
  );

  it('is not stored when its archive is interrupted', async () => {
    const id = randomUUID();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1);
      throw new Error('disk');
    }
    await expect(createJob({ id, kind: 'upload', archive: broken() })).rejects.toThrow('disk');
    await expect(store.jobs.get(id)).rejects.toMatchObject({ code: 'job_not_found' });
    expect((await plain.query('SELECT FROM jobs WHERE id = $1', [id])).rowCount).toBe(0);
  });
});

describe('list', () => {
  it('gives the newest first however quickly they were made', async () => {
    const made: string[] = [];
    for (let index = 0; index < 200; index += 1) made.push((await createJob()).id);
    const found = await allPages((cursor) => store.jobs.list({ limit: 7, cursor }));
    expect(found.slice(0, 200).map(({ id }) => id)).toEqual(made.toReversed());
  });

  it('shows a job to a key by the handle that it asks for, whatever else it asks for', async () => {
    const mapping = { prompt_column: 'half \ud83d and \0' };
    const made: string[] = [];
    for (const handle of ['team-a-x', 'team-b-x']) {
      made.push((await createJob({ request: JSON.stringify({ mapping, target: { handle } }) })).id);
    }
    const list = async () => (await store.jobs.list({ limit: 2 })).data.map(({ id }) => id);
    const asTeam = (handle: string) =>
      actAs({ name: 'team', role: 'editor', requestId: null, handles: [handle] }, list);
    expect(await asTeam('team-a-')).toEqual([made[0]]);
    expect(await asTeam('team-b-')).toEqual([made[1]]);
  });
});
