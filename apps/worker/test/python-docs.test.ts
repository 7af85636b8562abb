import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { startTestService, type TestService } from './start-test-service.ts';

const KEY = 'a-key-of-an-editor';
const GENERATOR = fileURLToPath(
  new URL('../../../packages/client/node_modules/.bin/openapi-generator', import.meta.url),
);

/** Programs of the page by their headings. */
const programs = new Map<string, string[]>();
let service: TestService;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  const page = await readFile(new URL('../../../docs/python.md', import.meta.url), 'utf8');
  for (const part of page.split(/^## /m).slice(1)) {
    const blocks = [...part.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, program]) => String(program));
    programs.set(part.slice(0, part.indexOf('\n')), blocks);
  }
  service = await startTestService({ env: { SVC_API_KEYS: `admin:${KEY}` } });
  folder = await mkdtemp(join(tmpdir(), 'svc-python-'));
  const lines = '{"answer":4,"id":12345678901234567890,"inputs":{"prompt":"2+2?"}}\n';
  const content = `${lines}{"answer":0.12345678901234567890123,"id":2,"inputs":{"prompt":"?"}}\n`;
  await writeFile(
    join(folder, 'sums.pkg.zip'),
    buildZip({ entries: [{ name: 'sections/train.jsonl', content }] }),
  );
  environment = {
    PATH: String(process.env['PATH']),
    SVC_API_URL: service.url,
    SVC_API_KEY: KEY,
    NO_PROXY: '127.0.0.1',
    HF_HOME: join(folder, 'hub'),
    HF_HUB_OFFLINE: '1',
  };
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function programOf(heading: string): string {
  const [program] = programs.get(heading) ?? [];
  if (program === undefined) throw new Error(`docs/python.md has no program under ${heading}`);
  return program;
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

/** Lines that a program prints. */
async function run(name: string, program: string, env: Readonly<Record<string, string>> = {}) {
  await writeFile(join(folder, name), program);
  const { stdout } = await promisify(execFile)('python3', [name], {
    cwd: folder,
    env: { ...environment, ...env },
  });
  return stdout.split('\n');
}

const WITH_REQUESTS = ['Upload and wait', 'Read items', 'Run and read results'];

it('the programs with requests do what the page says', async ({ skip }) => {
  const lack = missing('requests');
  if (lack !== undefined) skip(lack);
  expect(await run('requests.program.py', WITH_REQUESTS.map(programOf).join('\n'))).toEqual(
    expect.arrayContaining([
      'Sums 2',
      '12345678901234567890 2+2? 4',
      '2 ? 0.12345678901234567890123',
      '12345678901234567890 ok 2+2?',
      'completed 2',
    ]),
  );
});

it.for([
  { heading: 'With httpx', libraries: ['httpx'], printed: ["first prompts: ['2+2?', '?']"] },
  { heading: 'Tables', libraries: ['pandas'], printed: ['  2+2?   2+2?', '     ?      ?'] },
  { heading: 'The `datasets` library', libraries: ['datasets'], printed: ['2 rows'] },
])('the program under "$heading" does what the page says', async (row, { skip }) => {
  const lack = missing('requests', ...row.libraries);
  if (lack !== undefined) skip(lack);
  const all = [...WITH_REQUESTS, row.heading].map(programOf).join('\n');
  const lines = await run(
    `${row.libraries.join('-')}.program.py`,
    all.replaceAll('"Sums"', `"${row.heading}"`),
  );
  expect(lines).toEqual(expect.arrayContaining(row.printed));
});

it('a client that OpenAPI Generator makes imports every module and calls', { timeout: 120_000 }, async ({
  skip,
}) => {
  const lack = missing('urllib3', 'six', 'dateutil', 'certifi') ?? withoutJava();
  if (lack !== undefined) skip(lack);
  const [converter = '', program = ''] = programs.get('Generate a client') ?? [];
  await writeFile(join(folder, 'to_openapi_30.py'), converter);
  const document = await fetch(`${service.url}/openapi.json`).then((response) => response.bytes());
  await writeFile(join(folder, 'openapi.json'), document);
  const older = execFileSync('python3', ['to_openapi_30.py'], { cwd: folder, input: document });
  await writeFile(join(folder, 'openapi-3.0.json'), older);
  await mkdir(join(folder, 'svc-client'));
  const options = ['-g', 'python', '-i', 'openapi-3.0.json', '-o', 'svc-client'];
  await promisify(execFile)(GENERATOR, ['generate', ...options, '--package-name', 'svc_client'], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  });
  const everything = [
    'import importlib, pkgutil, svc_client',
    'modules = list(pkgutil.walk_packages(svc_client.__path__, "svc_client."))',
    'for module in modules: importlib.import_module(module.name)',
    'print(len(modules) > 50)',
  ];
  const body = new FormData();
  body.set('name', 'Generated');
  body.set('file', new Blob(['{"inputs":{"prompt":"1+1?"}}\n']), 'items.jsonl');
  await service.post('/datasets/upload', body, { authorization: `Bearer ${KEY}` });
  const lines = await run(
    'generated.py',
    [...everything, program.replaceAll('"Sums"', '"Generated"')].join('\n'),
    { PYTHONPATH: join(folder, 'svc-client') },
  );
  expect(lines).toEqual(['True', 'Generated 1', 'default 0 1+1?', '404 dataset_not_found', '']);
});

function withoutJava(): string | undefined {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no Java';
  }
}
