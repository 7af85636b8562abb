import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../../cli/src/database/create-database.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

const KEY = 'a-key-of-an-admin-0123456789';

/** Passwords of databases that are words, or a part of any JSON text. Nothing that people write changes because of them. */
describe.each(['postgres', 'example', 'test', '"'])('the password %s', (password) => {
  const said = `For example, "postgres" is a test of a database: ${password}.`;
  const model = `example/test-postgres-7b`;
  const name = `test of "postgres", for example: ${password}`;
  const prompt = `Use "postgres" for example in this test: {prompt} ${password}`;
  let cleanUp: AsyncDisposableStack;
  let service: TestService;
  let provider: FakeProvider;
  let datasetId: string;
  let asked: string[];

  beforeAll(async () => {
    cleanUp = new AsyncDisposableStack();
    asked = [];
    provider = cleanUp.use(
      await startFakeProvider((text) => {
        asked.push(text);
        return { text: said };
      }),
    );
    const url = `postgresql://u:${encodeURIComponent(password)}@db.internal:5432/svc`;
    service = cleanUp.use(
      await startTestService({
        env: {
          ...{ DATABASE_URL: url, DATABASE_DIRECT_URL: url, SVC_LOG_LEVEL: 'debug', SVC_METRICS_KEY: KEY },
          // Shorter than any key of the service: it is kept out of logs and errors alone.
          ...{ SVC_PROVIDER_X: password, SVC_PROVIDER_X_ORIGINS: new URL(provider.baseUrl).origin },
        },
      }),
    );
    datasetId = await service.importItems([
      { id: 'a', type: 'exact', inputs: { prompt: said }, answer: said, checker: { type: 'exact_match' } },
    ]);
  });
  afterAll(() => cleanUp.disposeAsync());

  const resultsOf = async (id: string): Promise<Body> => (await service.get(`/runs/${id}/results`)).body.data;

  async function push(id: string, line: object): Promise<Body> {
    const response = await fetch(`${service.url}/runs/${id}/results`, {
      method: 'POST',
      headers: { 'content-type': 'application/jsonl' },
      body: JSON.stringify(line),
    });
    return { status: response.status, ...((await response.json()) as object) };
  }

  async function external(): Promise<string> {
    const config = { provider: { type: 'external', label: name } };
    const { status, body } = await service.post('/runs', { dataset_id: datasetId, name, config });
    expect(body).toMatchObject({ name, config });
    expect(status).toBe(202);
    return body.id;
  }

  it('changes no result that clients send', async () => {
    const id = await external();
    const usage = { [password]: 1, prompt_tokens: 3 };
    const line = { item_id: 'a', output: said, usage, finish_reason: 'test', trace_id: said };
    const scores = { example: { score: 1, explanation: said } };
    expect(await push(id, { ...line, scores })).toMatchObject({ status: 200, accepted: 1, redacted: 0 });
    const stored = { output: said, usage, trace_id: said, finish_reason: 'test', score: 1, passed: true };
    expect(await resultsOf(id)).toMatchObject([{ ...stored, scores, redacted: 0 }]);
  });

  it('changes no answer, model, prompt, name or address of a run', async () => {
    const base_url = `${provider.baseUrl}/example/test/postgres`;
    const config = {
      provider: {
        type: 'openai_compatible',
        base_url: provider.baseUrl,
        model,
        api_key_env: 'SVC_PROVIDER_X',
      },
      prompt_template: prompt,
      system_prompt: `You are a test of "postgres", for example. ${password}`,
    };
    const elsewhere = { ...config, provider: { ...config.provider, base_url, api_key_env: null } };
    const dry = await service.post('/runs?dry_run=true', { dataset_id: datasetId, name, config: elsewhere });
    expect(dry.status).toBe(200);
    const { status, body } = await service.post('/runs', { dataset_id: datasetId, name, config });
    expect(body).toMatchObject({ name, config });
    expect(status).toBe(202);
    expect(await runEnded(service, body.id)).toMatchObject({ status: 'completed', name, config });
    expect(asked).toEqual([prompt.replace('{prompt}', said)]);
    expect(await resultsOf(body.id)).toMatchObject([{ output: said, score: 1, passed: true, redacted: 0 }]);
    const renamed = await service.patch(`/runs/${body.id}`, { name: said, note: said, labels: ['postgres'] });
    expect(renamed.body).toMatchObject({ name: said, note: said, labels: ['postgres'] });
    const again = await service.post(`/runs/${body.id}/rescore`, { checker: { type: 'includes' }, name });
    expect(again.body).toMatchObject({ name });
  });

  it('changes no export, and no import of it', async () => {
    const id = await external();
    await push(id, { item_id: 'a', output: said });
    const download = async (dataset: string, run: string): Promise<Uint8Array<ArrayBuffer>> => {
      const response = await fetch(`${service.url}/datasets/${dataset}/export?run_id=${run}`);
      expect(response.status).toBe(200);
      return new Uint8Array(await response.arrayBuffer());
    };
    await service.post(`/runs/${id}/finish`, {});
    await runEnded(service, id);
    const archive = await download(datasetId, id);
    const form = new FormData();
    form.append('name', name);
    form.append('file', new Blob([archive]), 'test.pkg.zip');
    const uploaded = (await service.post('/datasets/upload', form)).body;
    expect(uploaded).toMatchObject({ name });
    const [copy] = (await service.get(`/runs?dataset_id=${uploaded.id}`)).body.data;
    expect(copy).toMatchObject({ name, imported: true });
    expect(await resultsOf(copy.id)).toMatchObject([{ output: said, score: 1, redacted: 0 }]);

    for (const format of ['inspect', 'promptfoo']) {
      const file = await service.get(`/datasets/${datasetId}/export?format=${format}&run_id=${id}`);
      expect([file.status, format]).toEqual([200, format]);
      if (typeof file.body === 'string') expect(file.body).not.toContain('[redacted]');
    }
    for (const table of ['jsonl', 'csv']) {
      const response = await fetch(`${service.url}/runs/${id}/results.${table}`);
      expect(await response.text()).not.toContain('[redacted]');
    }

    const env = { DATABASE_URL: `postgresql://u:${encodeURIComponent(password)}@h/d`, SVC_METRICS_KEY: KEY };
    const direct = await createDatabase(env, '0.0.0-test').openExport(service.databaseUrl, {
      dataset: datasetId,
      version: undefined,
      runId: id,
      allowIncomplete: false,
      signal: new AbortController().signal,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of direct.body) chunks.push(chunk);
    await direct[Symbol.asyncDispose]();
    expect(Buffer.concat(chunks).equals(archive)).toBe(true);
  });

  it('changes no name of a member in log lines, and is in none of their texts', async () => {
    const lines = [...service.apiLog(), ...service.workerLog()];
    expect(lines.length).toBeGreaterThan(10);
    expect(JSON.stringify(lines.map(namesIn))).not.toContain('redacted');
    if (password === '"') return;
    for (const { event: _, service: __, ...fields } of lines)
      expect(JSON.stringify(textsIn(fields))).not.toContain(password);
  });

  it('refuses a key of the service, and the form of one, in what it would have to change', async () => {
    const config = { provider: { type: 'external', label: 'x' } };
    for (const secret of [KEY, 'sk-proj-abcdefghijklmnop1234', 'Bearer abcdefgh12345678']) {
      const inName = await service.post('/runs', { dataset_id: datasetId, name: `of ${secret}`, config });
      expect(inName).toMatchObject({ status: 400, body: { errors: [{ path: '/name' }] } });
      const label = { provider: { type: 'external', label: secret } };
      const inConfig = await service.post('/runs', { dataset_id: datasetId, config: label });
      expect(inConfig).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      const id = await external();
      expect(await service.patch(`/runs/${id}`, { name: secret })).toMatchObject({ status: 400 });
      expect(JSON.stringify([inName.body, inConfig.body])).not.toContain(secret);
    }
  });

  it('scores an output with a key of the service as it came, and replaces the key in what it stores', async () => {
    const dataset = await service.importItems([
      { id: 'k', type: 'exact', inputs: { prompt: 'p' }, answer: KEY, checker: { type: 'exact_match' } },
    ]);
    const config = { provider: { type: 'external', label: 'x' } };
    const { body } = await service.post('/runs', { dataset_id: dataset, config });
    expect(await push(body.id, { item_id: 'k', output: KEY, trace_id: KEY })).toMatchObject({ redacted: 3 });
    const [result] = await resultsOf(body.id);
    // The output, the id, and the explanation, which names what was compared.
    expect(result).toMatchObject({ output: '[redacted]', score: 1, passed: true, redacted: 3 });
    expect(JSON.stringify([result, service.apiLog()])).not.toContain(KEY);
  });
});

/** The names of all members of a value. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

/** The texts in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
