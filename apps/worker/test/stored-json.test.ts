import { afterEach, beforeEach, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ env: { SVC_MAX_JSON_DEPTH: '1000' } });
});
afterEach(() => service[Symbol.asyncDispose]());

const nested = (depth: number): string => '[1,'.repeat(depth) + ']'.repeat(depth).replace(/^/, '1');

async function upload(archive: Uint8Array<ArrayBuffer>): Promise<Body> {
  const { status, body } = await service.post('/datasets/upload', uploadForm(archive));
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function run(datasetId: string, config: object): Promise<Body> {
  const { status, body } = await service.post('/runs', { dataset_id: datasetId, config });
  expect(status).toBe(202);
  return await runEnded(service, body.id);
}

it('reads items as deep as they were accepted: in a run, an export, and an import of that export', async () => {
  const small = `{"id":1,"type":"exact","answer":${nested(600)},"checker":"json_equal"}`;
  const prompt = `"inputs":{"prompt":"p","more":${nested(900)}}`;
  const large = `{"id":2,"answer":${nested(990)},"checker":"json_equal",${prompt},"notes":"${'x'.repeat(100_000)}"}`;
  const dataset = await upload(
    await makePackage({
      'sections/s.jsonl': `${small}\n${large}\n`,
      'meta.json': `{"default_judge_prompts":${nested(600)}}`,
    }),
  );

  const ended = await run(dataset.id, {
    provider: { type: 'item_field', pointer: '/answer' },
    allow_unscored: true,
    judge: { base_url: 'http://127.0.0.1:9/v1', model: 'm' },
  });
  expect(ended).toMatchObject({ status: 'completed', counts: { ok: 2 }, scores: { passed: 2 } });

  const exported = await fetch(`${service.url}/datasets/${dataset.id}/export?run_id=${ended.id}`);
  expect(exported.status).toBe(200);
  const again = await upload(new Uint8Array(await exported.arrayBuffer()));
  expect(again.version_hash).toBe(dataset.version_hash);
});

it('reports damage in stored JSON as an internal error, and logs its cause', async () => {
  const dataset = await upload(
    await makePackage({ 'sections/s.jsonl': '{"id":1,"answer":"a","assets":{"f":"data:text/plain,a"}}\n' }),
  );
  const { id } = await run(dataset.id, {
    provider: { type: 'item_field', pointer: '/answer' },
    allow_unscored: true,
  });
  const damage = (sql: string) => queryDatabase(service.databaseUrl, sql);
  const expectInternalError = async (path: string): Promise<void> => {
    const logged = service.apiLog().length;
    const { status, body } = await service.get(path);
    expect([path, status, body.code]).toEqual([path, 500, 'internal']);
    const line = service
      .apiLog()
      .slice(logged)
      .find(({ event }) => event === 'error.internal');
    expect(JSON.stringify(line)).toContain('JsonlError');
  };

  await damage(`UPDATE runs SET config = '{"a":1,"a":2}'`);
  await expectInternalError(`/datasets/${dataset.id}/export?run_id=${id}`);
  await damage(`UPDATE items SET payload = '{ "id":1}'`);
  await expectInternalError(`/datasets/${dataset.id}/items`);
  await expectInternalError(`/datasets/${dataset.id}/items.jsonl`);
  await damage(
    `UPDATE items SET payload = '{"id":1}', assets = '{"f":{"data":"YQ==","data":"YQ=="}}', linked_files = NULL`,
  );
  // the archive has begun by then
  await expect(service.get(`/datasets/${dataset.id}/export`)).rejects.toThrow();
  const failed = service.apiLog().find(({ event }) => event === 'dataset.export.fail');
  expect(failed).toMatchObject({ error: { code: 'corrupt', cause: { code: 'duplicate_key' } } });

  await damage(`UPDATE items SET assets = NULL, answer = '{"a":1,"a":2}'`);
  const ended = await run(dataset.id, { provider: { type: 'echo' }, allow_unscored: true });
  expect(ended).toMatchObject({ status: 'completed', counts: { failed: 1 } });
  const results = await service.get(`/runs/${ended.id}/results`);
  expect(results.body.data[0]).toMatchObject({ status: 'failed', error: { code: 'internal' } });
  expect(JSON.stringify(service.workerLog())).toContain('duplicate_key');
});
