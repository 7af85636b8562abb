import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from './start-test-service.ts';

const KEY = 'a-key-of-an-editor';
const LINE = '{"id":1,"inputs":{"prompt":"2+2?"},"answer":"2+2?"}\n';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ env: { SVC_API_KEYS: `admin:${KEY}` } });
  folder = await mkdtemp(join(tmpdir(), 'svc-generated-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a tool that is installed for `@svc/client`. */
async function tool(name: string, ...options: readonly string[]): Promise<void> {
  const path = new URL(`../../../packages/client/node_modules/.bin/${name}`, import.meta.url);
  await promisify(execFile)(fileURLToPath(path), options, { cwd: folder }).catch((error) => {
    throw new Error(`${name}: ${error.stdout}${error.stderr}`);
  });
}

/** The compiler options of a new Vite project, besides those about files. */
const STRICT = {
  target: 'es2023',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  types: [],
};

/** Compiles a program with a generated client, and returns what its `flow` returns. */
async function flowOf(name: string, program: string): Promise<unknown> {
  await writeFile(join(folder, `${name}.ts`), program);
  const project = join(folder, `tsconfig.${name}.json`);
  await writeFile(project, JSON.stringify({ compilerOptions: STRICT, files: [`${name}.ts`] }));
  await tool('tsc', '-p', project);
  const { flow } = (await import(join(folder, `${name}.ts`))) as { flow: (...options: string[]) => unknown };
  return await flow(service.url, KEY, LINE);
}

const DONE = {
  scorable: 1,
  status: 'completed',
  mean: 1,
  outputs: ['2+2?'],
  provider: 'echo',
  missing: 'dataset_not_found',
};

it('a client that @hey-api/openapi-ts makes uploads, runs and reads results', async () => {
  const options = ['--input', `${service.url}/openapi.json`, '--output', join(folder, 'hey')];
  await tool('openapi-ts', ...options, '--client', '@hey-api/client-fetch', '--no-log-file');
  const program = `
    import { createRun, getDataset, getJob, getRun, listJobs, listRunResults, listRuns, planRun, uploadDataset } from './hey/index.ts';

    export async function flow(baseUrl: string, key: string, line: string): Promise<unknown> {
      const access = { baseUrl, headers: { Authorization: \`Bearer \${key}\` }, throwOnError: true } as const;
      const file = [new File([line], 'sums.jsonl')];
      const { data: job } = await uploadDataset({ ...access, body: { file }, headers: { ...access.headers, Prefer: 'respond-async' } });
      if (!('progress' in job)) throw new Error('The upload was not asynchronous.');
      let { data: ended } = await getJob({ ...access, path: { id: job.id } });
      while (ended.finished_at === null) ({ data: ended } = await getJob({ ...access, path: { id: job.id } }));
      const { data: jobs } = await listJobs({ ...access, query: { limit: 1 } });
      if (jobs.data[0]?.id !== job.id || ended.dataset_id === null) throw new Error('The job failed.');

      const body = {
        dataset_id: ended.dataset_id,
        config: { provider: { type: 'echo' }, checker: { type: 'exact_match', ignore_case: true } },
      } as const;
      const { data: planned } = await planRun({ ...access, body });
      const { data: started } = await createRun({ ...access, body });
      let { data: run } = await getRun({ ...access, path: { id: started.id } });
      while (run.finished_at === null) ({ data: run } = await getRun({ ...access, path: { id: run.id } }));
      const { data: results } = await listRunResults({ ...access, path: { id: run.id } });
      const { data: runs } = await listRuns({ ...access, query: { limit: 1 } });
      const missing = await getDataset({ ...access, throwOnError: false, path: { id: '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d' } });
      return {
        scorable: planned.plan.scorable,
        status: run.status,
        mean: run.scores.mean,
        outputs: results.data.map(({ output }) => output),
        provider: runs.data[0]?.config.provider?.type,
        missing: missing.error?.code,
      };
    }
  `;
  expect(await flowOf('hey-program', program)).toEqual(DONE);
});

it('a client that orval makes uploads, runs and reads results', async () => {
  const input = `${service.url}/openapi.json`;
  const output = { target: join(folder, 'orval.ts'), client: 'fetch', baseUrl: service.url };
  const config = join(folder, 'orval.config.mjs');
  await writeFile(config, `export default ${JSON.stringify({ svc: { input: { target: input }, output } })};`);
  await tool('orval', '--config', config);
  const program = `
    import { createRun, getDataset, getJob, getRun, listJobs, listRunResults, listRuns, planRun, uploadDataset } from './orval.ts';

    export async function flow(_url: string, key: string, line: string): Promise<unknown> {
      const headers = { Authorization: \`Bearer \${key}\` };
      const file = [new File([line], 'sums.jsonl')];
      const stored = await uploadDataset({ file, name: 'Orval' }, {}, { headers });
      if (stored.status !== 201) throw new Error(\`The upload gave \${stored.status}.\`);
      const queued = await uploadDataset({ file, name: 'Job' }, {}, { headers: { ...headers, Prefer: 'respond-async' } });
      if (queued.status !== 202) throw new Error(\`The upload gave \${queued.status}.\`);
      for (let ended = false; !ended; ) {
        const job = await getJob(queued.data.id, { headers });
        if (job.status !== 200) throw new Error(\`The job gave \${job.status}.\`);
        ended = job.data.finished_at !== null;
      }
      const jobs = await listJobs({ limit: 1 }, { headers });
      if (jobs.status !== 200 || jobs.data.data[0]?.id !== queued.data.id) throw new Error('No job was listed.');

      const body = {
        dataset_id: stored.data.id,
        config: { provider: { type: 'echo' }, checker: { type: 'exact_match', ignore_case: true } },
      } as const;
      const planned = await planRun(body, { headers });
      const started = await createRun(body, { headers });
      if (planned.status !== 200 || started.status !== 202) throw new Error('The run did not start.');
      let run = await getRun(started.data.id, { headers });
      while (run.status === 200 && run.data.finished_at === null) run = await getRun(started.data.id, { headers });
      const results = await listRunResults(started.data.id, {}, { headers });
      const runs = await listRuns({ limit: 1 }, { headers });
      const missing = await getDataset('0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d', {}, { headers });
      if (run.status !== 200 || results.status !== 200 || runs.status !== 200) throw new Error('No results.');
      if (missing.status === 200) throw new Error('The dataset is not missing.');
      return {
        scorable: planned.data.plan.scorable,
        status: run.data.status,
        mean: run.data.scores.mean,
        outputs: results.data.data.map(({ output }) => output),
        provider: runs.data.data[0]?.config.provider?.type,
        missing: missing.data.code,
      };
    }
  `;
  expect(await flowOf('orval-program', program)).toEqual(DONE);
});
