import { execFile } from 'node:child_process';
import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { type FakeProvider, startFakeProvider } from '../../worker/test/fake-provider.ts';
import { runService, type ServiceProcess } from './faults/run-service.ts';
import { makeDataFolder } from './make-data-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

const CAPITALS = {
  Kenya: 'Nairobi',
  Senegal: 'Dakar',
  Egypt: 'Cairo',
  France: 'Paris',
  Portugal: 'Lisbon',
  Austria: 'Vienna',
  Estonia: 'Tallinn',
};

/** Matches a shown output, in which "…" is any text. */
function patternOf(output: string): RegExp {
  return new RegExp(
    output
      .split('…')
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );
}

let cleanUp: AsyncDisposableStack;
let folder: string;
let model: FakeProvider;
let service: ServiceProcess;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await makeDataFolder('svc-readme-');
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['examples', 'README.md']) await symlink(join(root, name), join(folder, name));
  const rows = Array.from(
    { length: 120 },
    (_, index) => `{"question":"${index} + 1?","answer":"#### ${index + 1}"}`,
  );
  const card =
    '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: test\n    path: main/test.jsonl\n---\n';
  const hub = cleanUp.use(
    await startFakeHub({
      id: 'openai/gsm8k',
      files: { 'README.md': card, 'main/test.jsonl': `${rows.join('\n')}\n` },
    }),
  );
  // both models: the first time it does not know one of the capitals
  const capitals = new Map(Object.entries(CAPITALS));
  model = cleanUp.use(
    await startFakeProvider((prompt, attempt) => {
      const country = /capital of (\w+)/.exec(prompt)?.[1] ?? '';
      return { text: attempt === 1 && country === 'Senegal' ? 'Banjul' : (capitals.get(country) ?? '?') };
    }),
  );
  const env = {
    HUB_ENDPOINT: hub.endpoint,
    SVC_PROVIDER_OPENAI: 'sk-of-a-test',
    SVC_PROVIDER_OPENAI_ORIGINS: new URL(model.baseUrl).origin,
  };
  service = await runService({ app: 'standalone', dataDir: join(folder, 'data'), env });
  cleanUp.defer(async () => void (await service.end('SIGTERM')));
});
afterAll(() => cleanUp.disposeAsync());

/** The blocks of commands of a page. */
async function commandsOf(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8');
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}

const shell = (script: string): Promise<{ stdout: string; stderr: string }> =>
  run('bash', ['--norc', '--noprofile', '-euo', 'pipefail', '-c', script], { cwd: folder });

it('runs every command of the README in order, and prints the outputs it shows', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const blocks = await commandsOf('README.md');
  expect(blocks).toHaveLength(5);
  // the last command removes the export, of which the copy is looked at
  const script = ['ollama() { [ "$*" = "pull llama3.2" ]; }', ...blocks]
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', service.url)
    .replaceAll(/http:\/\/127\.0\.0\.1:11434\/v1|https:\/\/api\.openai\.com\/v1/g, model.baseUrl)
    .replace(/^rm exported\.pkg\.zip$/m, 'cp exported.pkg.zip copy.pkg.zip\n$&');
  const { stdout, stderr } = await shell(script);

  expect(stderr).toBe('');
  const outputs = [...readme.matchAll(/^```json\n([\s\S]*?)\n```$/gm)].map(([, output = '']) => output);
  expect(outputs).toHaveLength(3);
  for (const output of outputs) expect(stdout).toMatch(patternOf(output));
  expect(stdout).toContain('"name":"Capitals"');
  expect(stdout).toContain('"suggested_mapping":{"prompt_column":"question","answer_column":"answer",');
  expect(stdout).toContain('"name":"GSM8K"');
  expect(stdout).toContain('"item_count":100');
  expect(stdout).toContain('"status":"completed"');
  expect(stdout).toContain('"pass_rate":1');
  expect(stdout).toContain('"code":"mapping_required"');
  expect(stdout.match(/^\{"answer":"\w+","checker".*\}$/gm)).toHaveLength(7);
  expect((await readFile(join(folder, 'copy.pkg.zip'))).subarray(0, 2).toString()).toBe('PK');
  expect(await readdir(folder)).not.toContain('exported.pkg.zip');
  const { data } = (await (await fetch(`${service.url}/datasets`)).json()) as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).toEqual(['GSM8K', 'questions', 'Capitals']);
  expect(model.asked.size).toBe(7);
});

it('runs the commands of pages that continue it', async () => {
  const read = async (path: string): Promise<{ readonly data: readonly Record<string, string>[] }> =>
    (await (await fetch(`${service.url}${path}`)).json()) as never;
  const dataset = (await read('/datasets')).data.find(({ name }) => name === 'GSM8K');
  const runs = (await read('/runs?dataset_id=Capitals')).data;
  const blocks = await Promise.all(
    ['own-data', 'hub-import', 'versions', 'labels', 'verify'].map((page) => commandsOf(`docs/${page}.md`)),
  );
  expect(blocks.map(({ length }) => length)).toEqual([1, 2, 2, 1, 1]);
  const script = [
    // a problem would be an answer, too
    'curl() { command curl --fail-with-body --silent --show-error "$@"; }',
    `svc-pkg() { "${process.execPath}" "${join(root, 'packages/svc-pkg/dist/main.js')}" "$@"; }`,
    `API=${service.url} SVC_API_URL=${service.url} KEY=none RUN=${runs[0]?.['id']}`,
    `RUN_ID=$RUN RUN_HASH=${runs[0]?.['run_hash']}`,
    ...blocks.flat(),
  ]
    .join('\n')
    .replaceAll(/http:\/\/127\.0\.0\.1:8080|(?<=[ '])localhost:8080/g, service.url)
    .replaceAll(/(?<=\/datasets\/)[0-9a-f]{8}-[0-9a-f-]{27}/g, String(dataset?.['id']))
    .replace('/results/test/17/1/label', '/results/europe/0/1/label');
  const { stdout } = await shell(script);
  expect(stdout).toContain('"handle":"gsm8k-test"');
  expect(stdout).toContain('"added":1');
  expect(stdout).toContain('"verdict":"fail"');
});
