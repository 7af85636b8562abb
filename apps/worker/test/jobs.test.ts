import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { HubError } from '@svc/hub-client';
import { createTokenCipher, Secret } from '@svc/service';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { createFakeHub, ROW_BYTES } from './fake-hub.ts';
import {
  type Body,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from './start-test-service.ts';

let cleanUp: AsyncDisposableStack;
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(() => cleanUp.disposeAsync());

async function serve(options?: TestServiceOptions): Promise<TestService> {
  return cleanUp.use(await startTestService(options));
}

const ASYNC = { prefer: 'respond-async' };
const request = (config: object = {}): object => ({
  name: 'imported',
  config: { path: 'owner/name', split: 'train', ...config },
  mapping: { prompt_column: 'question', answer_column: 'answer' },
});

async function jobEnded(service: TestService, id: string, timeoutMs?: number): Promise<Body> {
  const { body } = await until(
    () => service.get(`/jobs/${id}`),
    ({ body: job }) => job.finished_at !== null,
    timeoutMs,
  );
  return body;
}

const query = (service: TestService, sql: string): Promise<Body[]> => queryDatabase(service.databaseUrl, sql);

/** Waits for the end of a job whose tries do not wait for their time. */
async function triedOut(service: TestService, id: string): Promise<Body> {
  const { body } = await until(
    async () => {
      await query(service, "UPDATE jobs SET available_at = now() WHERE available_at < 'infinity'");
      await query(service, "SELECT pg_notify('svc_task', 'import')");
      return service.get(`/jobs/${id}`);
    },
    ({ body: job }) => job.finished_at !== null,
  );
  return body;
}

async function expectNothingStored(service: TestService): Promise<void> {
  expect(await query(service, 'SELECT FROM datasets')).toEqual([]);
  expect(await query(service, 'SELECT FROM sections')).toEqual([]);
  expect(await query(service, 'SELECT FROM items')).toEqual([]);
  expect(await query(service, 'SELECT FROM job_chunks')).toEqual([]);
  expect(await query(service, 'SELECT FROM jobs WHERE sealed_token IS NOT NULL')).toEqual([]);
}

/** Holds a hub's rows back from a row on, until `open` is called. */
function createBarrier(fromRow: number) {
  const opened = Promise.withResolvers<void>();
  let reached = false;
  return {
    reached: () => reached,
    open: () => opened.resolve(),
    beforeBatch: async (firstRow: number, signal: AbortSignal | undefined) => {
      if (firstRow < fromRow) return;
      reached = true;
      await new Promise<void>((resolve, reject) => {
        void opened.promise.then(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    },
  };
}

describe('an asynchronous change', () => {
  it('makes the next version of the dataset, or fails as a job', async () => {
    const service = await serve({ hub: createFakeHub({ rows: 25 }) });
    const hub = await service.post('/datasets/hub/import', { ...request(), handle: 'mine' }, ASYNC);
    const imported = await jobEnded(service, hub.body.id);
    const change = async (query: string, body: string): Promise<Body> => {
      const response = await fetch(`${service.url}/datasets/mine/items?${query}`, {
        method: 'POST',
        headers: { ...ASYNC, 'content-type': 'application/jsonl' },
        body,
      });
      expect(response.status).toBe(202);
      return await jobEnded(service, ((await response.json()) as Body).id);
    };
    const appended = await change('mode=append&message=m&section=extra', '{"id":"new"}\n');
    expect(appended).toMatchObject({ status: 'succeeded', dataset_id: imported.dataset_id });
    const { body } = await service.get('/datasets/mine');
    expect(body).toMatchObject({ handle: 'mine', version: 2, item_count: 26 });
    expect(body.sections).toMatchObject([{ name: 'default' }, { name: 'extra', item_count: 1 }]);
    expect((await service.get('/datasets/mine/versions')).body.data[0]).toMatchObject({
      ...{ source: 'append', message: 'm' },
    });
    const failed = await change('mode=upsert', '{}\n');
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'ambiguous_id' } });
    const again = await service.post(
      '/datasets/hub/import?if_exists=version',
      { ...request(), handle: 'mine' },
      ASYNC,
    );
    expect(await jobEnded(service, again.body.id)).toMatchObject({ dataset_id: imported.dataset_id });
    const { data } = (await service.get('/datasets/mine/versions')).body;
    expect(data.map(({ source }: Body) => source)).toEqual(['hub', 'append', 'hub']);
    expect(data[0].version_hash).toBe(data[2].version_hash);
  });
});

describe('an asynchronous import', () => {
  it('is accepted as a job that ends with its dataset', async () => {
    const service = await serve({ hub: createFakeHub({ rows: 2500 }) });
    const answer = await service.post('/datasets/hub/import', request(), {
      prefer: 'wait=5, respond-async',
      'x-request-id': 'the-import',
    });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/jobs/${answer.body.id}`);
    expect(answer.headers.get('preference-applied')).toBe('respond-async');
    expect(answer.body).toMatchObject({
      kind: 'import',
      status: 'queued',
      progress: { rows_done: 0, rows_total: null, bytes_done: 0, bytes_total: null },
      dataset_id: null,
      error: null,
      started_at: null,
      finished_at: null,
    });
    const job = await jobEnded(service, answer.body.id);
    expect(job).toMatchObject({ status: 'succeeded', progress: { rows_done: 2500, rows_total: 2500 } });
    expect(job.progress).toMatchObject({ bytes_done: 2500 * ROW_BYTES, bytes_total: 2500 * ROW_BYTES });
    const { body: dataset } = await service.get(`/datasets/${job.dataset_id}`);
    expect(dataset).toMatchObject({ name: 'imported', item_count: 2500, schema: { source: 'hub' } });

    const lines = await until(service.workerLog, (log) => log.some(({ event }) => event === 'job.finish'));
    for (const event of ['job.start', 'dataset.import.start', 'dataset.import.finish', 'job.finish']) {
      expect(lines.find((line) => line['event'] === event)).toMatchObject({
        request_id: 'the-import',
        job_id: job.id,
      });
    }
    await expect
      .poll(() => service.sample('svc_dataset_imports_total{source="hub",outcome="succeeded"}'))
      .toBe(1);
  });

  it('gives the same dataset as one that is waited for', async () => {
    const service = await serve({ hub: createFakeHub({ rows: 300 }) });
    const { body: waited } = await service.post('/datasets/hub/import', request());
    const { body: accepted } = await service.post('/datasets/hub/import', request(), ASYNC);
    const job = await jobEnded(service, accepted.id);
    const { body: dataset } = await service.get(`/datasets/${job.dataset_id}`);
    expect(dataset.version_hash).toBe(waited.version_hash);
    expect(dataset.schema).toEqual(waited.schema);
  });

  it('is waited for without the preference, and for a dry run', async () => {
    const service = await serve({ hub: createFakeHub({ rows: 3 }) });
    const plain = await service.post('/datasets/hub/import', request(), { prefer: 'return=minimal' });
    expect(plain.status).toBe(201);
    const dry = await service.post('/datasets/hub/import?dry_run=true', request(), ASYNC);
    expect(dry).toMatchObject({ status: 200, body: { item_count: 3 } });
  });

  it('reports progress that only grows', async () => {
    const slowly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));
    const service = await serve({
      hub: createFakeHub({ rows: 60_000, batchRows: 1000, beforeBatch: slowly }),
    });
    const { body: accepted } = await service.post('/datasets/hub/import', request(), ASYNC);
    const seen: Body[] = [];
    const response = await fetch(`${service.url}/jobs/${accepted.id}/events`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
    }
    for (const data of text.matchAll(/^data: (.*)$/gm)) seen.push(JSON.parse(data[1] as string));
    expect(text).toContain('event: end');
    const rows = seen.map((job) => job.progress.rows_done);
    const bytes = seen.map((job) => job.progress.bytes_done);
    expect(rows).toEqual(rows.toSorted((a, b) => a - b));
    expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
    expect(new Set(rows).size).toBeGreaterThan(3);
    expect(seen.some((job) => job.progress.rows_total === 60_000 && job.status === 'running')).toBe(true);
    expect(seen.at(-1)).toMatchObject({ status: 'succeeded', progress: { rows_done: 60_000 } });
  });

  it.each([
    ['notified', false],
    ['not notified', true],
  ])('is cancelled midway with nothing left, its worker %s', async (_name, blockNotifications) => {
    const barrier = createBarrier(5000);
    const hub = createFakeHub({ rows: 1_000_000, beforeBatch: barrier.beforeBatch });
    const service = await serve({ hub, blockNotifications });
    const interval = blockNotifications ? 250 : 60_000;
    await service.patch('/settings', { cancellation_check_interval_ms: interval });
    const { body: accepted } = await service.post('/datasets/hub/import', request(), ASYNC);
    await until(barrier.reached, Boolean);
    const cancel = await service.post(`/jobs/${accepted.id}/cancel`);
    expect(cancel).toMatchObject({ status: 202, body: { id: accepted.id, status: 'cancelling' } });
    const job = await jobEnded(service, accepted.id);
    expect(job).toMatchObject({ status: 'cancelled', dataset_id: null, error: null });
    await expectNothingStored(service);
    expect(hub.read()).toBeLessThanOrEqual(6000);
    expect(await service.post(`/jobs/${accepted.id}/cancel`)).toMatchObject({ status: 202, body: job });
    await until(service.workerLog, (log) => log.some(({ event }) => event === 'job.cancel'));
    await expect
      .poll(() => service.sample('svc_dataset_imports_total{source="hub",outcome="cancelled"}'))
      .toBe(1);
  });

  it('is cancelled immediately while no worker has it', async () => {
    const service = await serve();
    await service.worker.stop(AbortSignal.timeout(1000));
    const { body } = await service.post('/datasets/hub/import', request({ token: 'hf_planted' }), ASYNC);
    const cancel = await service.post(`/jobs/${body.id}/cancel`);
    expect(cancel).toMatchObject({ status: 202, body: { status: 'cancelled' } });
    await expectNothingStored(service);
  });

  it('fails with the error that the request would have had', async () => {
    const service = await serve();
    const wrong = { ...request(), mapping: { prompt_column: 'nothing' } };
    const waited = await service.post('/datasets/hub/import', wrong);
    const { body: accepted } = await service.post('/datasets/hub/import', wrong, {
      ...ASYNC,
      'x-request-id': 'wrong',
    });
    const job = await jobEnded(service, accepted.id);
    expect(job.status).toBe('failed');
    expect(job.error).toEqual({
      ...waited.body,
      instance: `/jobs/${accepted.id}`,
      request_id: 'wrong',
    });
    expect(job.error.code).toBe('column_not_found');
    await expectNothingStored(service);
    await until(service.workerLog, (log) => log.some(({ event }) => event === 'job.fail'));
  });

  it('is tried again when the hub was away, and only then', async () => {
    let opened = 0;
    const openDataset = (): void => {
      opened += 1;
      if (opened < 3) throw new HubError('hub_unavailable', 'The hub cannot be reached');
    };
    const service = await serve({ hub: createFakeHub({ rows: 5, openDataset }) });
    const { body: accepted } = await service.post('/datasets/hub/import', request(), ASYNC);
    expect(await jobEnded(service, accepted.id)).toMatchObject({ status: 'succeeded' });
    expect(opened).toBe(3);
    const retries = service.workerLog().filter(({ event }) => event === 'job.retry');
    expect(retries).toMatchObject([
      { kind: 'import', attempt: 1, code: 'hub_unavailable' },
      { kind: 'import', attempt: 2, code: 'hub_unavailable' },
    ]);
  });

  it('waits as long as the hub requires, and can be cancelled during the wait', async () => {
    let opened = 0;
    const openDataset = (): void => {
      opened += 1;
      throw new HubError('hub_rate_limited', 'Rate limited by the hub', {
        details: { retryAfterMs: 300_000 },
      });
    };
    const service = await serve({ hub: createFakeHub({ rows: 5, openDataset }) });
    const { body: accepted } = await service.post('/datasets/hub/import', request(), ASYNC);
    await until(service.workerLog, (log) => log.some(({ event }) => event === 'dataset.import.fail'));
    await service.post(`/jobs/${accepted.id}/cancel`);
    expect(await jobEnded(service, accepted.id)).toMatchObject({ status: 'cancelled' });
    expect(opened).toBe(1);
    expect(service.workerLog().map(({ event }) => event)).not.toContain('job.retry');
  });

  it('fails after the third attempt, with the last error', async () => {
    const openDataset = (): void => {
      throw new TypeError('an internal error, with hf_planted in it');
    };
    const service = await serve({ hub: createFakeHub({ rows: 5, openDataset }) });
    const { body: accepted } = await service.post(
      '/datasets/hub/import',
      request({ token: 'hf_planted' }),
      ASYNC,
    );
    const job = await triedOut(service, accepted.id);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'internal', status: 500 } });
    expect(JSON.stringify([job, service.workerLog()])).not.toContain('planted');
    await expectNothingStored(service);
    const events = service.workerLog().map(({ event }) => event);
    expect(events.filter((event) => event === 'job.retry')).toHaveLength(2);
    expect(events.filter((event) => event === 'job.start')).toHaveLength(3);
  });

  it('has no page /jobs/<unknown>', async () => {
    const service = await serve();
    for (const path of ['', '/events']) {
      expect(await service.get(`/jobs/x${path}`)).toMatchObject({
        status: 404,
        body: { code: 'job_not_found' },
      });
    }
  });
});

describe('the hub token of an asynchronous import', () => {
  const token = 'hf_planted_token';

  it('reaches the hub, is stored sealed only, and is erased at the end', async () => {
    const barrier = createBarrier(0);
    const hub = createFakeHub({ rows: 5, beforeBatch: barrier.beforeBatch });
    const service = await serve({ hub, env: { SVC_LOG_LEVEL: 'debug' } });
    const { body: accepted } = await service.post('/datasets/hub/import', request({ token }), ASYNC);
    await until(barrier.reached, Boolean);
    expect(hub.tokens).toEqual([token]);
    const [row] = await query(service, 'SELECT * FROM jobs');
    expect(row.sealed_token).toBeInstanceOf(Buffer);
    const everything = (await query(service, 'SELECT * FROM jobs')).map((one) =>
      Object.values(one).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : value)),
    );
    expect(JSON.stringify(everything)).not.toContain('planted');
    const tokenCipher = createTokenCipher(new Secret('deployment secret of the tests'));
    expect(tokenCipher.decrypt(accepted.id, row.sealed_token.toString())).toBe(token);
    barrier.open();
    const job = await jobEnded(service, accepted.id);
    expect(job.status).toBe('succeeded');
    expect(await query(service, 'SELECT FROM jobs WHERE sealed_token IS NOT NULL')).toEqual([]);
    expect(JSON.stringify([service.workerLog(), service.apiLog(), job])).not.toContain('planted');
    const { body } = await service.get(`/datasets/${job.dataset_id}`);
    expect(JSON.stringify(body)).not.toContain('planted');
  });

  it('is not in the log of a synchronous request that fails with an internal error', async () => {
    const openDataset = (): void => {
      throw new TypeError(`cannot read ${token}`);
    };
    const service = await serve({ hub: createFakeHub({ rows: 1, openDataset }) });
    const answer = await service.post('/datasets/hub/import', request({ token }));
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } });
    const log = service.apiLog();
    expect(log.find(({ event }) => event === 'error.internal')).toMatchObject({
      error: { name: 'TypeError', message: 'cannot read [redacted]' },
    });
    expect(JSON.stringify(log)).not.toContain('planted');
  });

  it('is refused where there is no key to seal it with', async () => {
    const service = await serve({ env: { SVC_JOB_KEY: '' } });
    const answer = await service.post('/datasets/hub/import', request({ token }), ASYNC);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: '/config/token' }] },
    });
    expect(answer.body.detail).toContain('SVC_JOB_KEY');
    expect((await service.post('/datasets/hub/import', request(), ASYNC)).status).toBe(202);
  });

  it('has at most 512 characters of ASCII, without blanks and line breaks', async () => {
    const service = await serve();
    for (const wrong of ['with a blank', 'ümlaut', 'x'.repeat(513), 'a\nb']) {
      const answer = await service.post('/datasets/hub/import', request({ token: wrong }), ASYNC);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      expect(JSON.stringify(answer.body)).not.toContain(wrong.slice(0, 20));
    }
  });
});

describe('an asynchronous upload', () => {
  const lines = Array.from({ length: 700 }, (_, index) => `{"id":${index},"inputs":{"prompt":"p${index}"}}`);

  it('takes its archive from the database, whatever its size', async () => {
    // three chunks, and an asset that spans two of them
    const noise = randomBytes(1_200_000);
    const archive = await makePackage({
      'sections/a.jsonl': `${lines.join('\n')}\n`,
      'sections/b.jsonl': '{"id":"x","inputs":{"prompt":"p"},"assets":{"n":"assets/noise.bin"}}\n',
      'assets/noise.bin': noise,
      'assets/other.bin': randomBytes(1_200_000),
    });
    const service = await serve();
    const { body: waited } = await service.post('/datasets/upload', uploadForm(archive));
    const answer = await service.post('/datasets/upload', uploadForm(archive, { name: 'later' }), ASYNC);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/jobs/${answer.body.id}`);
    expect(answer.body).toMatchObject({ kind: 'upload', progress: { bytes_total: archive.byteLength } });
    const job = await jobEnded(service, answer.body.id);
    expect(job).toMatchObject({
      status: 'succeeded',
      progress: {
        rows_done: 701,
        rows_total: 701,
        bytes_done: archive.byteLength,
        bytes_total: archive.byteLength,
      },
    });
    const { body: dataset } = await service.get(`/datasets/${job.dataset_id}`);
    expect(dataset).toMatchObject({ name: 'later', version_hash: waited.version_hash, asset_count: 1 });
    expect(await query(service, 'SELECT FROM job_chunks')).toEqual([]);
  });

  it('says with its job what the response of an upload says besides the dataset', async () => {
    const service = await serve();
    for (const [name, content, mapping] of [
      ['a.jsonl', '{"inputs":{"prompt":"p"}}\n{"inputs":{"x":1}}\n', undefined],
      ['a.csv', 'q,a\nx,1\n', '{"prompt_column":"q"}'],
      ['a.csv', 'q\nx\n', '{"prompt_column":"q"}'],
    ] as const) {
      const form = (): FormData => {
        const body = new FormData();
        body.append('file', new Blob([content]), name);
        if (mapping !== undefined) body.append('mapping', mapping);
        return body;
      };
      const { body: waited } = await service.post('/datasets/upload', form());
      const { body } = await service.post('/datasets/upload', form(), ASYNC);
      const { notes } = await jobEnded(service, body.id);
      const said = Object.entries(waited).filter(([key]) => ['warnings', 'unused_columns'].includes(key));
      expect(notes).toEqual(said.length === 0 ? null : Object.fromEntries(said));
      expect([content, said.length]).toEqual([content, content === 'q\nx\n' ? 0 : 1]);
    }
  });

  it('takes an older archive that is converted on upload', async () => {
    const archive = await makePackage({ 'data/a.jsonl': `${lines.join('\n')}\n` });
    const service = await serve();
    const { body } = await service.post('/datasets/upload', uploadForm(archive, { convert: 'true' }), ASYNC);
    const job = await jobEnded(service, body.id);
    expect(job).toMatchObject({ status: 'succeeded', progress: { rows_done: 700 } });
  });

  it('takes files with tables, each as a section', async () => {
    const rows = Array.from({ length: 900 }, (_, index) => `question ${index},0${index}`);
    const form = (): FormData => {
      const made = new FormData();
      made.append('mapping', '{"prompt_column":"q","answer_column":"a","invalid_rows":"skip"}');
      made.append('file', new Blob([`q,a\n${rows.join('\n')}\n`]), 'b.csv');
      made.append('file', new Blob([gzipSync('{"q":"x","a":1}\n{"q":null,"a":2}\n')]), 'a.jsonl.gz');
      return made;
    };
    const service = await serve();
    const { body: waited } = await service.post('/datasets/upload', form());
    const { body } = await service.post('/datasets/upload', form(), ASYNC);
    const job = await jobEnded(service, body.id);
    expect(job).toMatchObject({ status: 'succeeded', progress: { rows_done: 901 } });
    const { body: dataset } = await service.get(`/datasets/${job.dataset_id}`);
    expect(dataset).toMatchObject({
      name: 'a',
      version_hash: waited.version_hash,
      schema: waited.schema,
      sections: [
        { name: 'a', item_count: 1 },
        { name: 'b', item_count: 900 },
      ],
    });
    expect(dataset.schema.skipped).toMatchObject({ count: 1, rows: [{ row: 1, file: 'a.jsonl.gz' }] });
    expect(await query(service, 'SELECT FROM job_chunks')).toEqual([]);
  });

  it('fails with file and line, and leaves neither items nor archive', async () => {
    const broken = [...lines.slice(0, 500), '{"id":', ...lines.slice(500), '[]'].join('\n');
    const archive = await makePackage({ 'sections/a.jsonl': broken });
    const service = await serve();
    const waited = await service.post('/datasets/upload', uploadForm(archive));
    const { body } = await service.post('/datasets/upload', uploadForm(archive), ASYNC);
    const job = await jobEnded(service, body.id);
    expect(job.error).toEqual({
      ...waited.body,
      instance: `/jobs/${body.id}`,
      request_id: expect.any(String),
    });
    expect(job.error).toMatchObject({
      code: 'package_invalid_line',
      errors: [
        { file: 'sections/a.jsonl', line: 501 },
        { file: 'sections/a.jsonl', line: 702 },
      ],
      errors_total: 2,
    });
    await expectNothingStored(service);
  });

  it('compares tables of an archive with the bytes that were sent', async () => {
    const archive = await makePackage({ 'a.csv': `a\n${'1\n'.repeat(100_000)}`, 'b.csv': 'a\n2\n' });
    const form = uploadForm(archive);
    form.append('mapping', JSON.stringify({ prompt_template: `${'x'.repeat(700)}{a}` }));
    const service = await serve();
    const { body } = await service.post('/datasets/upload', form, ASYNC);
    expect((await jobEnded(service, body.id)).error).toMatchObject({
      code: 'package_limit',
      detail: expect.stringContaining(`the ${archive.byteLength} bytes of its files`),
    });
    await expectNothingStored(service);
  });
});
