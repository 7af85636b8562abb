import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startFakeHub } from '../../packages/hub-client/test/fake-hub.ts';
import { buildZip } from '../../packages/pkg-format/test/build-zip.ts';
import { ROOT } from './publishable.ts';
import { cleanEnvironment, type ProgramOutput, runProgram } from './run-program.ts';

/** Which files to run, with which Node. */
export interface ExampleRunner {
  /** Path of the Node binary. */
  readonly node: string;
  /** Folder of the programs; they find the packages from there. */
  readonly folder: string;
  /** `.ts`, `.js` where their types were taken out, or `.cjs` where they require what they import. */
  readonly extension: '.ts' | '.js' | '.cjs';
  /** An empty folder to work in. */
  readonly workFolder: string;
}

type Env = Readonly<Record<string, string>>;

/** Node 22 warns that it strips types, which is not part of a program's output. */
const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** Runs one program of the folder to its end. */
export function runExample(
  runner: ExampleRunner,
  name: string,
  args: readonly string[] = [],
  env: Env = {},
): Promise<ProgramOutput> {
  const file = join(runner.folder, `${name}${runner.extension}`);
  return runProgram(runner.node, [...FLAGS, file, ...args], { cwd: runner.workFolder, env });
}

/** A hub with the dataset of the examples. */
export async function startExampleHub(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const card =
    '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: main/*.jsonl\n---\n';
  const rows = [1, 2, 3, 4, 5].map((n) => `{"question":"${n}+1?","answer":"#### ${n + 1}"}\n`);
  return startFakeHub({
    id: 'openai/gsm8k',
    files: { 'README.md': card, 'main/train.jsonl': rows.join('') },
  });
}

/** Programs of `examples/` that call a service. The tests of the service run these. */
export const EXAMPLES_OF_SERVICE: readonly string[] = ['run-a-dataset'];

/** What each other program of `examples/` must do; rejects with an AssertionError otherwise. */
export const EXAMPLE_CHECKS: Readonly<Record<string, (runner: ExampleRunner, env: Env) => Promise<void>>> = {
  'map-rows': async (runner) => {
    const { text } = await runExample(runner, 'map-rows');
    assert.deepEqual(
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .map(({ id, answer }) => [id, answer]),
      [
        ['train-0', 'Nairobi'],
        ['train-1', 'Cairo'],
      ],
    );
  },

  'pack-a-table': async (runner) => {
    const [input, output] = [join(ROOT, 'examples/questions.csv'), join(runner.workFolder, 'q.pkg.zip')];
    const { text } = await runExample(runner, 'pack-a-table', [input, output]);
    assert.match(text, /^[0-9a-f]{64}\n$/);
    const read = await runExample(runner, 'read-a-package', [output]);
    assert.match(read.text, /^s 1 42\n/);
    assert.ok(read.text.endsWith(`\n${text}`));
  },

  'write-a-package': async (runner) => {
    const output = join(runner.workFolder, 'written.pkg.zip');
    await runExample(runner, 'write-a-package', [output]);
    const kept = await readFile(join(ROOT, 'examples/capitals.pkg.zip'));
    const written = await readFile(output);
    assert.ok(written.equals(kept), 'examples/capitals.pkg.zip is not what write-a-package.mjs writes');
  },

  'read-a-package': async (runner) => {
    const { text } = await runExample(runner, 'read-a-package', [join(ROOT, 'examples/capitals.pkg.zip')]);
    assert.equal(
      text,
      [
        ...['africa 1 Nairobi', 'africa 2 Dakar', 'africa 3 Cairo'],
        ...['europe 1 Paris', 'europe 2 Lisbon', 'europe 3 Vienna', 'europe 4 Tallinn'],
        '60f7b787db978daa86c599430de25562f14229f37faa6d803924eac020990b3a\n',
      ].join('\n'),
    );
  },

  'convert-a-legacy-package': async (runner) => {
    const old = buildZip({
      entries: [{ name: 'data/train.jsonl', content: '{"prompt":"2+2?","expected":"4"}\n' }],
    });
    const input = join(runner.workFolder, 'old.zip');
    await writeFile(input, old);
    const { text } = await runExample(runner, 'convert-a-legacy-package', [input]);
    assert.match(text, /old\.pkg\.zip/);
    assert.match(text, /itemCount: 1/);
    await copyFile(join(runner.workFolder, 'old.pkg.zip'), join(runner.workFolder, 'capitals.pkg.zip'));
    assert.match((await runExample(runner, 'read-a-package')).text, /^train 1 4\n[0-9a-f]{64}\n$/);
  },

  preview: async (runner, env) => {
    const { text } = await runExample(runner, 'preview', [], env);
    assert.match(text, /^[0-9a-f]{40} 5 \{ promptColumn: 'question', answerColumn: 'answer' \}\n/);
    assert.match(text, /^question: string\nanswer: string$/m);
    assert.equal(text.match(/^\{ question: '\d\+1\?', answer: '#### \d' \}$/gm)?.length, 3);
  },

  'logs-and-metrics': async (runner) => {
    const port = await freePort();
    const file = join(runner.folder, `logs-and-metrics${runner.extension}`);
    const child = spawn(runner.node, [...FLAGS, file], {
      env: cleanEnvironment({ PORT: String(port) }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const lines: string[] = [];
      child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(text));
      const response = await untilResponded(`http://127.0.0.1:${port}/x?q`, { 'X-Request-ID': 'id 7' });
      assert.match(await response.text(), /^shop_http_requests_in_progress\{.*path="\/metrics".*\} 1$/m);
      assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      const { service, event, request_id } = JSON.parse(lines.join('').split('\n')[0] ?? '');
      assert.deepEqual([service, event, request_id], ['shop', 'page.view', 'id 7']);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  },
};

async function untilResponded(url: string, headers: Record<string, string>): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetch(url, { headers });
    } catch (error) {
      if (attempt === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
