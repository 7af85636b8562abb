import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { svcPkg } from '../../../packages/svc-pkg/test/run-svc-pkg.ts';
import { temporaryFolder } from '../../../packages/svc-pkg/test/temporary-folder.ts';
import { startTestService, type TestService } from '../../worker/test/start-test-service.ts';

const KEY = 'a-key-of-an-admin';
const UNKNOWN = '0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';
const LINES =
  '{"answer":"a","id":1,"inputs":{"prompt":"a"}}\n{"answer":"x","id":2,"inputs":{"prompt":"b"}}\n';

let service: TestService;
let url: string;
/** The next request that creates something loses its connection after the service has done it. */
let losesNext = false;
let lost = 0;
let folder: string;
const cleanUp = new AsyncDisposableStack();
/** What later commands need of earlier ones. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  service = cleanUp.use(await startTestService({ env: { SVC_API_KEYS: `admin:${KEY}` } }));
  const proxy = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const headers = { ...incoming.headers, host: new URL(service.url).host };
    const forwarded = httpRequest(`${service.url}${incoming.url}`, { method: incoming.method, headers });
    forwarded.on('response', async (answer) => {
      const content = await buffer(answer);
      if (losesNext && incoming.headers['idempotency-key'] !== undefined) {
        losesNext = false;
        lost += 1;
        incoming.socket.destroy();
      } else response.writeHead(answer.statusCode ?? 500, answer.headers).end(content);
    });
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  cleanUp.defer(() => new Promise<void>((resolve) => void proxy.close(() => resolve())));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  folder = await temporaryFolder((remove) => cleanUp.defer(remove));
  const archive = buildZip({ entries: [{ name: 'sections/test.jsonl', content: LINES }] });
  await writeFile(join(folder, 'a.pkg.zip'), archive);
  await writeFile(join(folder, 'b.pkg.zip'), archive);
  const entries = [{ name: 'data/test.jsonl', content: LINES }];
  await writeFile(join(folder, 'old.zip'), buildZip({ entries }));
  await writeFile(join(folder, 'older.zip'), buildZip({ entries }));
  await writeFile(join(folder, 'table.csv'), 'question,answer\na,b\n');
  await writeFile(join(folder, 'broken.pkg.zip'), 'no archive');
  await mkdir(join(folder, 'edited/sections'), { recursive: true });
  await writeFile(join(folder, 'edited/sections/test.jsonl'), LINES);
});
afterAll(() => cleanUp.disposeAsync());

interface Line {
  readonly command: string;
  /** Arguments that succeed, and what standard output has then. */
  readonly done: () => readonly string[];
  readonly prints: RegExp;
  /** Arguments that fail, with the exit code and the code of the error. */
  readonly failed: () => readonly string[];
  readonly exitCode: number;
  readonly error: string;
  /** Whether the connection is lost once, after the service has done what was asked. */
  readonly isLost?: boolean;
  /** What must be there before. */
  readonly before?: () => Promise<void>;
  /** Takes what later commands need out of the document. */
  readonly keep?: (document: Record<string, string>) => void;
}

const env = () => ({ SVC_API_URL: url, SVC_API_KEY: KEY, XDG_CONFIG_HOME: folder });

/** The document of a command. */
const document = async (...argv: readonly string[]): Promise<Record<string, string>> =>
  (await svcPkg(['--json', ...argv], { env: env() })).document();

const at = (name: string): string => join(folder, name);
const table = ['--prompt-column', 'question', '--answer-column', 'answer'];
const echo = ['--set', 'provider.type=echo', 'checker.type=exact_match'];

/** Every command once as it succeeds, and once as it fails. */
const LINES_OF_COMMANDS: readonly Line[] = [
  {
    command: 'login',
    done: () => ['--api-url', url],
    prints: /credentials\.json/,
    failed: () => ['--api-url', 'ftp://x'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'convert',
    done: () => [at('old.zip'), at('older.zip')],
    prints: /^\[\{.*"item_count":2.*\},\{.*"item_count":2.*\}\]$/,
    failed: () => [at('old.zip')],
    exitCode: 3,
    error: 'output_exists',
  },
  {
    command: 'pack',
    done: () => [at('table.csv'), ...table],
    prints: /"item_count":1/,
    failed: () => [at('nothing.csv'), ...table],
    exitCode: 3,
    error: 'io_error',
  },
  {
    command: 'check',
    done: () => [at('a.pkg.zip'), at('b.pkg.zip')],
    prints: /^\[\{.*"ok":true.*\},\{.*"ok":true.*\}\]$/,
    failed: () => [at('nothing.pkg.zip')],
    exitCode: 3,
    error: 'io_error',
  },
  {
    command: 'inspect',
    done: () => [at('a.pkg.zip')],
    prints: /"samples":\[/,
    failed: () => [at('broken.pkg.zip')],
    exitCode: 1,
    error: 'package_not_a_zip',
  },
  {
    command: 'hash',
    done: () => [at('a.pkg.zip'), at('b.pkg.zip')],
    prints: /("version_hash":"[0-9a-f]{64}").*\1/,
    failed: () => [at('broken.pkg.zip')],
    exitCode: 1,
    error: 'package_not_a_zip',
  },
  {
    command: 'verify',
    done: () => [at('a.pkg.zip')],
    prints: /"differing_total":0/,
    failed: () => [at('broken.pkg.zip')],
    exitCode: 3,
    error: 'package_unreadable',
  },
  {
    command: 'seal',
    done: () => [at('edited')],
    prints: /"item_count":2/,
    failed: () => [at('edited')],
    exitCode: 3,
    error: 'output_exists',
  },
  {
    command: 'upload',
    isLost: true,
    done: () => [at('a.pkg.zip'), '--name', 'first'],
    prints: /"item_count":2/,
    keep: ({ id = '' }) => {
      ids['dataset'] = id;
    },
    failed: () => [at('broken.pkg.zip')],
    exitCode: 1,
    error: 'mapping_required',
  },
  {
    command: 'import-hub',
    isLost: true,
    done: () => ['owner/name', '--name', 'second', '--prompt-column', 'question'],
    prints: /"item_count":10/,
    failed: () => ['owner/name', '--name', 'third'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'preview',
    done: () => ['owner/name'],
    prints: /"features":\[/,
    failed: () => ['owner/name', '--limit', '0'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'list',
    done: () => [],
    prints: /"total":2/,
    failed: () => ['--source', 'nowhere'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'show',
    done: () => ['first'],
    prints: /"name":"first"/,
    failed: () => ['fourth'],
    exitCode: 1,
    error: 'dataset_not_found',
  },
  {
    command: 'items',
    done: () => ['first'],
    prints: /^\{"answer":"a","id":1,"inputs":\{"prompt":"a"\}\}\n/,
    failed: () => ['first', '--section', 'none'],
    exitCode: 1,
    error: 'section_not_found',
  },
  {
    command: 'diff',
    done: () => ['first', 'second'],
    prints: /"counts":\{[^}]*"added":\d+/,
    failed: () => ['first', UNKNOWN],
    exitCode: 1,
    error: 'dataset_not_found',
  },
  {
    command: 'versions',
    done: () => ['first'],
    prints: /"source":"upload".*"total":1/,
    failed: () => ['first@1'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'restore',
    done: () => ['first', '1'],
    prints: /"version":1,.*"change":\{"added":0/,
    failed: () => ['first', '2'],
    exitCode: 1,
    error: 'version_not_found',
  },
  {
    command: 'append',
    isLost: true,
    done: () => ['second', at('a.pkg.zip'), '-m', 'more'],
    prints: /"version":2,.*"change":\{"added":2/,
    failed: () => ['second', at('nothing.pkg.zip')],
    exitCode: 3,
    error: 'io_error',
  },
  {
    command: 'upsert',
    isLost: true,
    done: () => ['second', at('a.pkg.zip')],
    prints: /"version":2,.*"change":\{"added":0/,
    failed: () => ['second', at('broken.pkg.zip')],
    exitCode: 1,
    error: 'mapping_required',
  },
  {
    command: 'edit',
    isLost: true,
    done: () => ['second', '--id', '2', '--section', 'test', '--set', '/answer=y'],
    prints: /"version":3,.*"changed":1/,
    failed: () => ['second', '--id', 'nothing', '--remove'],
    exitCode: 1,
    error: 'item_not_found',
  },
  {
    command: 'export',
    done: () => ['first', '--output', at('exported.pkg.zip')],
    prints: /"bytes":\d+/,
    failed: () => [UNKNOWN],
    exitCode: 1,
    error: 'dataset_not_found',
  },
  {
    command: 'rename',
    done: () => ['second', 'renamed', '--notes', 'from a hub'],
    prints: /"name":"renamed".*"notes":"from a hub"/,
    failed: () => ['second', 'again'],
    exitCode: 1,
    error: 'dataset_not_found',
  },
  {
    command: 'run',
    isLost: true,
    done: () => ['first', ...echo],
    prints: /"status":"completed"/,
    keep: ({ id = '' }) => {
      ids['run'] = id;
    },
    failed: () => ['first', '--set', 'provider.type=nothing'],
    exitCode: 1,
    error: 'invalid_request',
  },
  {
    command: 'runs',
    done: () => ['--dataset', 'first'],
    prints: /"total":1/,
    failed: () => ['--status', 'odd'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'results',
    done: () => [ids['run'] ?? ''],
    prints: /"output":"a"/,
    failed: () => [UNKNOWN],
    exitCode: 1,
    error: 'run_not_found',
  },
  {
    command: 'pending',
    before: async () => {
      const run = await document('run', 'first', '--set', 'provider.type=external', '--no-wait');
      ids['external'] = run['id'] ?? '';
    },
    done: () => [ids['external'] ?? '', '--claim', '60', '--limit', '1'],
    prints: /"claimed_until"/,
    failed: () => [ids['run'] ?? ''],
    exitCode: 1,
    error: 'run_not_external',
  },
  {
    command: 'rescore',
    isLost: true,
    done: () => [ids['run'] ?? '', '--set', 'checker.type=includes', '--name', 'again'],
    prints: /"name":"again".*"status":"completed"/,
    keep: ({ id = '' }) => {
      ids['rescored'] = id;
    },
    failed: () => [UNKNOWN],
    exitCode: 1,
    error: 'run_not_found',
  },
  {
    command: 'compare',
    done: () => [ids['run'] ?? '', ids['rescored'] ?? ''],
    prints: /"paired":2/,
    failed: () => [ids['run'] ?? '', UNKNOWN],
    exitCode: 1,
    error: 'run_not_found',
  },
  {
    command: 'gate',
    isLost: true,
    before: () => writeFile(at('run.json'), '{"provider":"echo","checker":"exact_match"}'),
    done: () => [
      'first',
      '--config',
      at('run.json'),
      '--baseline',
      ids['run'] ?? '',
      '--max-drop',
      '0',
      '--undecided',
      'pass',
    ],
    prints: /^\{"verdict":"undecided",.*"exit_code":0/,
    failed: () => ['first', '--config', at('run.json'), '--baseline', 'none', '--max-drop', '0'],
    exitCode: 1,
    error: 'baseline_not_found',
  },
  {
    command: 'plan',
    done: () => ['first', '--baseline', ids['run'] ?? '', '--detect', '0.5'],
    prints: /^\{"items":2,"repetitions":\d+,"detectable":0\.\d+\}$/,
    failed: () => ['first', '--baseline', UNKNOWN, '--detect', '0.1'],
    exitCode: 1,
    error: 'run_not_found',
  },
  {
    command: 'labels',
    done: () => [ids['run'] ?? ''],
    prints: /"data":\[\]/,
    failed: () => [UNKNOWN],
    exitCode: 1,
    error: 'run_not_found',
  },
  {
    command: 'agreement',
    done: () => [ids['run'] ?? ''],
    prints: /"kappa":null/,
    failed: () => [UNKNOWN],
    exitCode: 1,
    error: 'run_not_found',
  },
  {
    command: 'retry',
    before: async () => {
      const run = await document('run', 'renamed', ...echo, 'allow_unscored=true');
      ids['unscored'] = run['id'] ?? '';
    },
    done: () => [ids['unscored'] ?? '', '--only', 'unscored', '--no-wait'],
    prints: /"id":"[-0-9a-f]{36}"/,
    failed: () => [ids['run'] ?? ''],
    exitCode: 1,
    error: 'nothing_to_retry',
  },
  {
    command: 'cancel',
    before: async () => {
      const { data } = (await document('jobs')) as unknown as { data: { id: string }[] };
      ids['job'] = data[0]?.id ?? '';
    },
    done: () => [ids['job'] ?? ''],
    prints: /"status":"succeeded"/,
    failed: () => [UNKNOWN],
    exitCode: 1,
    error: 'job_not_found',
  },
  {
    command: 'jobs',
    done: () => ['--kind', 'upload'],
    prints: /"status":"succeeded"/,
    failed: () => ['--kind', 'odd'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'open',
    done: () => ['first', '--print'],
    prints: /\/console\/datasets\/[-0-9a-f]{36}"/,
    failed: () => ['fourth', '--print'],
    exitCode: 1,
    error: 'dataset_not_found',
  },
  {
    command: 'mcp',
    done: () => [],
    prints: /^$/,
    failed: () => ['--http', 'odd'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'whoami',
    done: () => [],
    prints: /"role":"admin"/,
    failed: () => ['--api-url', 'ftp://x'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'logout',
    done: () => [],
    prints: /"deleted":true/,
    failed: () => ['--api-url', 'ftp://x'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'delete',
    done: () => ['--run', ids['rescored'] ?? '', '--yes'],
    prints: /"deleted":true/,
    failed: () => ['first'],
    exitCode: 2,
    error: 'usage',
  },
  {
    command: 'completion',
    done: () => ['bash'],
    prints: /complete -o filenames/,
    failed: () => ['tcsh'],
    exitCode: 2,
    error: 'usage',
  },
];

it('every command does what it is for, and fails with a code', async () => {
  const context = { env: env(), database: null };
  for (const {
    command,
    done,
    prints,
    failed,
    exitCode,
    error,
    isLost = false,
    before,
    keep,
  } of LINES_OF_COMMANDS) {
    await before?.();
    losesNext = isLost;
    const outcome = await svcPkg(['--json', command, ...done()], {
      ...context,
      ...(command === 'login' && { stdin: Readable.from([`${KEY}\n`]) }),
    });
    expect.soft({ command, exitCode: outcome.exitCode, stderr: outcome.stderr }).toEqual({
      command,
      exitCode: 0,
      stderr: '',
    });
    expect.soft(losesNext, command).toBe(false);
    expect.soft(outcome.stdout.trimEnd(), command).toMatch(prints);
    keep?.(outcome.document());

    const wrong = await svcPkg(['--json', command, ...failed()], context);
    expect.soft({ command, exitCode: wrong.exitCode, stdout: wrong.stdout }).toEqual({
      command,
      exitCode,
      stdout: '',
    });
    expect.soft(wrong.error(), command).toMatchObject({ code: error });
  }
  const helps = await svcPkg(['--help'], context);
  const named = [...helps.stdout.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
  const commands = LINES_OF_COMMANDS.map(({ command }) => command);
  expect(commands.toSorted()).toEqual(named.filter((name) => name !== 'help').toSorted());

  // What was created while a connection was lost is there once.
  expect(lost).toBe(LINES_OF_COMMANDS.filter(({ isLost }) => isLost).length);
  expect((await stat(at('exported.pkg.zip'))).size).toBeGreaterThan(0);
});
