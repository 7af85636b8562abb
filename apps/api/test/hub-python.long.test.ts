import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

const PAGE = await readFile(new URL('../../../docs/hub.md', import.meta.url), 'utf8');
const PROGRAMS = [...PAGE.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, program]) => String(program));

/** The program of the page that has a text. */
function programWith(text: string): string {
  const found = PROGRAMS.filter((program) => program.includes(text));
  if (found.length !== 1) throw new Error(`docs/hub.md has ${found.length} programs with ${text}`);
  return found[0] as string;
}

/** What this machine lacks of these libraries of Python; undefined if nothing. */
function missing(...libraries: readonly string[]): string | undefined {
  const absent = libraries.filter((library) => {
    try {
      execFileSync('python3', ['-c', `import ${library}`], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  return absent.length === 0 ? undefined : `Python without ${absent.join(', ')}`;
}

const KEY = 'a-key-of-a-viewer-1';
const FILES = {
  'manifest.json': '{"name":"Capitals"}',
  'sections/train.jsonl': [
    '{"answer":"Paris","inputs":{"prompt":"France?"},"meta":{"level":1}}',
    '{"answer":"Rome","inputs":{"prompt":"Italy?"},"meta":{"level":null}}',
    '{"answer":"Bern","inputs":{"prompt":"Switzerland?"}}',
  ].join('\n'),
  'sections/with blank 😀.jsonl': '{"answer":"x","inputs":{"prompt":"p"}}',
};

let api: TestApi;
let folder: string;
let versionHash: string;
beforeAll(async () => {
  api = await startTestApi({ SVC_API_KEYS: `viewer:${KEY},editor:a-key-of-an-editor-1` });
  folder = await mkdtemp(join(tmpdir(), 'svc-hub-'));
  const response = await fetch(`${api.url}/datasets/upload`, {
    method: 'POST',
    headers: { Authorization: 'Bearer a-key-of-an-editor-1' },
    body: uploadForm(await makePackage(FILES), { handle: 'Capitals' }),
  });
  versionHash = ((await response.json()) as { version_hash: string }).version_hash;
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** What a program prints. */
async function run(program: string, token: string | null = KEY): Promise<string> {
  const { stdout } = await promisify(execFile)('python3', ['-c', program], {
    cwd: folder,
    env: {
      PATH: String(process.env['PATH']),
      HF_ENDPOINT: api.url,
      HF_HOME: join(folder, `home-${token}`),
      HF_HUB_DISABLE_XET: '1',
      HF_HUB_DISABLE_TELEMETRY: '1',
      NO_PROXY: '127.0.0.1',
      ...(token === null ? {} : { HF_TOKEN: token }),
    },
  });
  return stdout;
}

const requests = (): readonly Record<string, unknown>[] =>
  api.log().filter(({ event, route }) => event === 'http.request' && String(route).includes('/svc/'));

it('the program of the README prints what it says', async ({ skip }) => {
  const lack = missing('datasets');
  if (lack !== undefined) skip(lack);
  const root = new URL('../../../', import.meta.url);
  const readme = await readFile(new URL('README.md', root), 'utf8');
  const [, program = '', printed] =
    /^```python\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  await fetch(`${api.url}/datasets/upload`, {
    method: 'POST',
    headers: { Authorization: 'Bearer a-key-of-an-editor-1' },
    body: uploadForm(await readFile(new URL('examples/capitals.pkg.zip', root)), { handle: 'Readme' }),
  });
  expect(await run(program.replace('svc/Capitals', 'svc/Readme'))).toBe(printed);
});

describe('the programs of docs/hub.md', () => {
  it.for([
    { text: 'train[:2]', libraries: ['datasets'], printed: "Column(['France?', 'Italy?']) 2\n" },
    { text: 'streaming=True', libraries: ['datasets'], printed: "['France?', 'Italy?']\n" },
    {
      text: 'read_parquet("hf:',
      libraries: ['pandas', 'huggingface_hub', 'pyarrow'],
      printed: "['France?', 'Italy?']\n",
    },
    { text: 'import polars', libraries: ['polars', 'huggingface_hub'], printed: '3\n' },
    { text: 'open(f"{folder}', libraries: ['huggingface_hub'], printed: '{"answer":"Paris\n' },
  ])('prints what it reads: $text', async ({ text, libraries, printed }, { skip }) => {
    const lack = missing(...libraries);
    if (lack !== undefined) skip(lack);
    expect(await run(programWith(text))).toBe(printed);
  });

  it('lists files, and computes the version hash', async ({ skip }) => {
    const lack = missing('datasets');
    if (lack !== undefined) skip(lack);
    const [files = '', sha] = (await run(programWith('list_repo_files'))).trim().split('\n');
    expect(files).toContain("'data/train-00000-of-00001.parquet'");
    expect(sha).toBe(versionHash.slice(0, 40));
    expect(await run(programWith('hexdigest'))).toBe(`${versionHash}\n`);
  });

  it('downloads no file of a snapshot twice', async ({ skip }) => {
    const lack = missing('huggingface_hub');
    if (lack !== undefined) skip(lack);
    await run(programWith('open(f"{folder}'));
    const before = requests().length;
    await run(programWith('open(f"{folder}'));
    const again = requests().slice(before);
    expect(again.map(({ method, route }) => `${method} ${route}`)).not.toContain(
      'GET /datasets/svc/:repo/resolve/:revision/*file',
    );
    expect(again.length).toBeGreaterThan(0);
  });

  it('explains a key that is missing or wrong', async ({ skip }) => {
    const lack = missing('datasets');
    if (lack !== undefined) skip(lack);
    const program = `
from datasets import load_dataset
try:
    load_dataset("svc/Capitals")
except Exception as error:
    print(type(error).__name__, error)
`;
    for (const token of [null, 'a-wrong-key'])
      expect(await run(program, token)).toContain(
        "DatasetNotFoundError Dataset 'svc/Capitals' doesn't exist on the Hub or cannot be accessed.",
      );
  });
});

/** What the loader of Inspect does with a dataset of the hub: each task's samples, or what it refuses. */
const LOADER = `
import json, string, yaml
from datasets import load_dataset
from huggingface_hub import hf_hub_download

repo = "svc/Mixed"
with open(hf_hub_download(repo, "eval.yaml", repo_type="dataset", revision="main")) as file:
    tasks = yaml.safe_load(file)["tasks"]
assert len(tasks) == 1 or all(task.get("id") for task in tasks)
for task in tasks:
    assert set(task) <= {"id", "config", "split", "field_spec", "shuffle_choices", "epochs", "epoch_reducer", "solvers", "scorers"}
    spec = task["field_spec"]
    samples = []
    for record in load_dataset(repo, name=task["config"], split=task["split"], revision="main"):
        target = record[spec["target"]]
        target = string.ascii_uppercase[target] if isinstance(target, int) else target
        choices = record[spec["choices"]] if "choices" in spec else None
        assert isinstance(record[spec["input"]], str)
        samples.append([record[spec["input"]], target, choices])
    print(json.dumps([task["id"], task["solvers"][0]["name"], task["scorers"][0]["name"], samples]))
`;

describe.skipIf(missing('datasets', 'yaml') !== undefined)('the loader of Inspect', () => {
  it('makes the tasks of a dataset whose items are of several kinds', async () => {
    const items = [
      { inputs: { prompt: 'a?', choices: ['x', 'y', 'z'] }, answer: 'z' },
      { inputs: { prompt: 'b?' }, answer: 4 },
      { inputs: { prompt: 'c?' }, answer: 'd', criteria: ['polite', { text: 'short' }] },
      { inputs: { messages: [{ role: 'user', content: 'no prompt' }] } },
      { inputs: { prompt: 'e?', choices: ['1', '2'] }, answer: ['1', '2'] },
    ];
    const archive = await makePackage({
      'sections/test.jsonl': items.map((item) => JSON.stringify(item)).join('\n'),
    });
    await fetch(`${api.url}/datasets/upload`, {
      method: 'POST',
      headers: { Authorization: 'Bearer a-key-of-an-editor-1' },
      body: uploadForm(archive, { handle: 'Mixed' }),
    });
    const printed = (await run(LOADER)).trim().split('\n');
    expect(printed.map((line) => JSON.parse(line))).toEqual([
      [
        ...['multiple_choice', 'multiple_choice', 'choice'],
        [
          ['a?', 'C', ['x', 'y', 'z']],
          ['e?', 'AB', ['1', '2']],
        ],
      ],
      ['model_graded_qa', 'generate', 'model_graded_qa', [['c?', 'polite\n{"text":"short"}', null]]],
      ['match', 'generate', 'match', [['b?', '4', null]]],
    ]);
  });
});
