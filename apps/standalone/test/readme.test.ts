import { execFile } from 'node:child_process';
import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { startFakeProvider } from '../../worker/test/fake-provider.ts';
import { makeDataFolder } from './make-data-folder.ts';
import { runStandalone } from './run-standalone.ts';

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

it('runs every command of the README in order, and prints the outputs it shows', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const folder = await makeDataFolder('svc-readme-');
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
  const model = cleanUp.use(
    await startFakeProvider((prompt, attempt) => {
      const country = /capital of (\w+)/.exec(prompt)?.[1] ?? '';
      return { text: attempt === 1 && country === 'Senegal' ? 'Banjul' : (capitals.get(country) ?? '?') };
    }),
  );
  const service = await runStandalone(join(folder, 'data'), {
    HUB_ENDPOINT: hub.endpoint,
    SVC_PROVIDER_OPENAI: 'sk-of-a-test',
    SVC_PROVIDER_OPENAI_ORIGINS: new URL(model.baseUrl).origin,
  });
  cleanUp.defer(async () => void (await service.end('SIGTERM')));

  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  expect(blocks).toHaveLength(5);
  // the last command removes the export, of which the copy is looked at
  const script = ['ollama() { [ "$*" = "pull llama3.2" ]; }', ...blocks]
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', service.url)
    .replaceAll(/http:\/\/127\.0\.0\.1:11434\/v1|https:\/\/api\.openai\.com\/v1/g, model.baseUrl)
    .replace(/^rm exported\.pkg\.zip$/m, 'cp exported.pkg.zip copy.pkg.zip\n$&');
  const { stdout, stderr } = await run('bash', ['--norc', '--noprofile', '-euo', 'pipefail', '-c', script], {
    cwd: folder,
  });

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
