import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

const METRICS_KEY = 'metrics-key-0123456789';

let api: TestApi;
let datasetId: string;
beforeAll(async () => {
  api = await startTestApi({ SVC_METRICS_KEY: METRICS_KEY });
  datasetId = await upload(
    await makePackage({
      'sections/a.jsonl': '{"id":1,"inputs":{"prompt":"p"},"answer":"a","checker":"judge"}\n',
    }),
  );
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
type Body = any;

async function upload(archive: Uint8Array<ArrayBuffer>): Promise<string> {
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body: uploadForm(archive) });
  expect(response.status).toBe(201);
  return ((await response.json()) as Body).id;
}

async function postRun(config: Body, query = ''): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${api.url}/runs${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id: datasetId, config }),
  });
  return { status: response.status, body: await response.json() };
}

const MODEL = {
  base_url: 'https://x.openai.azure.com/openai/deployments/gpt-4o',
  model: 'gpt-4o',
  api_key_env: 'SVC_PROVIDER_TEST',
  auth: 'api-key',
  query: { 'api-version': '2024-10-21' },
};
const PROVIDER = { type: 'openai_compatible', ...MODEL };
const JUDGE = { type: 'openai_compatible', ...MODEL, threshold: 0.5 };

describe('a model that takes its key as `api-key`', () => {
  it.each([
    ['the provider', { provider: PROVIDER, judge: { base_url: 'https://h/v1', model: 'm' } }],
    ['the judge', { provider: { type: 'echo' }, judge: MODEL }],
    ['neither but said', { provider: { ...PROVIDER, auth: 'bearer' }, judge: { ...MODEL, auth: 'bearer' } }],
  ])('can be %s', async (_, config) => {
    const { status, body } = await postRun(config, '?dry_run=true');
    expect(body).toMatchObject({ plan: { items: 1 } });
    expect(status).toBe(200);
  });

  it('is planned with a warning where the API has no key of this name', async () => {
    const named = { ...PROVIDER, api_key_env: 'SVC_PROVIDER_NOWHERE' };
    const { body } = await postRun({ provider: named, judge: JUDGE }, '?dry_run=true');
    const codes = (body.warnings as Body[]).map(({ code, message }) => [code, message]);
    expect(codes).toContainEqual([
      'unknown_key',
      'The API has no key SVC_PROVIDER_NOWHERE: the run fails unless its worker has it.',
    ]);
    const judge = { ...MODEL, api_key_env: 'SVC_PROVIDER_NONE' };
    const scorers = [{ name: 'judged', judge }];
    const judged = await postRun({ provider: { type: 'echo' }, scorers }, '?dry_run=true');
    expect(judged.body).toMatchObject({ plan: { items: 1 } });
    expect((judged.body.warnings as Body[]).map(({ code }) => code)).toContain('unknown_key');
  });

  it('stays in the configuration that is shown, exported and imported', async () => {
    const { status, body: run } = await postRun({ provider: PROVIDER, judge: JUDGE });
    expect(status).toBe(202);
    expect(run.config).toMatchObject({ provider: PROVIDER, judge: JUDGE });

    const archive = await fetch(
      `${api.url}/datasets/${datasetId}/export?run_id=${run.id}&allow_incomplete=true`,
    );
    expect(archive.status).toBe(200);
    const importedId = await upload(new Uint8Array(await archive.arrayBuffer()));
    const runs = (await (await fetch(`${api.url}/runs?dataset_id=${importedId}`)).json()) as Body;
    expect(runs.data).toMatchObject([{ imported: true, config: { provider: PROVIDER, judge: JUDGE } }]);
  });
});

describe('the search for secrets', () => {
  it('leaves prompts, schemas, selections and the keys of a cache alone', async () => {
    const schema = {
      type: 'object',
      properties: {
        password: { type: 'string', description: 'Password: required' },
        headers: { type: 'object' },
      },
    };
    const config = {
      provider: {
        ...PROVIDER,
        params: {
          max_tokens: 5,
          prompt_cache_key: 'abc',
          response_format: { type: 'json_schema', json_schema: { name: 'login', schema } },
        },
      },
      judge: JUDGE,
      system_prompt: 'The password is "swordfish". Authorization: none. token=abc',
      prompt_template: 'api_key: {prompt}',
      select: { sections: ['a', 'token=abc'] },
    };
    const { status, body } = await postRun(config);
    expect(body).not.toHaveProperty('errors');
    expect(status).toBe(202);
    expect(body.config).toMatchObject(config);
  });

  it('names each place and repeats no value', async () => {
    const config = {
      provider: {
        ...PROVIDER,
        params: { user: METRICS_KEY, metadata: { dbPassword: 'hunter2' }, list: ['a', 'X-Api-Key: hunter2'] },
      },
      judge: { ...JUDGE, extra_headers: { 'x-trace': 'sk-proj-abcdefghijklmnopqrstuvwx' } },
      system_prompt: 'Answer as sk-proj-abcdefghijklmnopqrstuvwx would.',
    };
    const { status, body } = await postRun(config);
    expect(status).toBe(400);
    expect(body.code).toBe('invalid_request');
    expect(body.errors.map(({ path }: Body) => path).sort()).toEqual([
      '/config/judge/extra_headers/x-trace',
      '/config/provider/params/list/1',
      '/config/provider/params/metadata/dbPassword',
      '/config/provider/params/user',
      '/config/system_prompt',
    ]);
    expect(JSON.stringify(body)).not.toMatch(/hunter2|sk-proj|metrics-key/);
    expect(body.detail).toContain('There are 4 more problems.');
  });
});
