import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildZip } from '../../packages/pkg-format/test/build-zip.ts';
import type { ConsumerProject } from './consumer-project.ts';
import { buildLegacyArchive } from './convert-legacy-archive.ts';
import { type Failures, isAtLeast, versionOf } from './every-program.ts';
import { cleanEnvironment } from './run-program.ts';

/** A service that the commands talk to. */
export interface CommandService {
  readonly url: string;
  readonly apiKey: string;
  /** The hub that it reads, with the dataset `openai/gsm8k`. */
  readonly hubEndpoint: string;
}

/** One command line that must succeed. */
interface CommandLine {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** What standard output must have; default: nothing is checked but the exit code. */
  readonly prints?: RegExp;
  /** Whether it reads zstd, which Node has from 22.15 on. */
  readonly needsZstd?: boolean;
  /** Keeps the id of the printed document under this name, for `{name}` in later arguments. */
  readonly keepsId?: string;
}

const TABLE = ['--prompt-column', 'question', '--answer-column', 'answer'];
const ECHO = ['--set', 'provider.type=echo', 'checker.type=exact_match'];
const HUB = 'openai/gsm8k';

/** Every command, and each way to use it that takes another path through the program. */
const COMMAND_LINES: readonly CommandLine[] = [
  { argv: ['--version'] },
  { argv: ['help', 'pack'], prints: /Usage: svc-pkg pack/ },
  { argv: ['completion', 'bash'], prints: /complete -o/ },
  { argv: ['completion', 'zsh'], prints: /#compdef/ },
  { argv: ['completion', 'fish'], prints: /complete -c/ },
  { argv: ['convert', 'legacy.zip', '--name', 'legacy'], prints: /"item_count":1/ },
  { argv: ['pack', 'table.csv', ...TABLE], prints: /"item_count":2/ },
  { argv: ['pack', 'items.jsonl', '--name', 'items'], prints: /"item_count":2/ },
  { argv: ['pack', 'tables.zip', '--name', 'zipped', ...TABLE], prints: /"item_count":2/ },
  { argv: ['pack', 'folder', '--name', 'folder', ...TABLE], prints: /"item_count":4/ },
  { argv: ['pack', '-', '--output', 'piped.pkg.zip', ...TABLE], stdin: 'question,answer\na,b\n' },
  { argv: ['check', 'table.pkg.zip', 'items.pkg.zip', '--strict'], prints: /"ok":true/ },
  { argv: ['inspect', 'table.pkg.zip'], prints: /"item_count":2/ },
  { argv: ['hash', 'table.pkg.zip'], prints: /"version_hash"/ },
  { argv: ['seal', 'edited', '--output', 'sealed.pkg.zip'], prints: /"item_count":2/ },
  { argv: ['preview', 'table.csv'], prints: /"samples"/ },
  { argv: ['preview', '-'], stdin: 'question,answer\na,b\n', prints: /"samples"/ },
  {
    argv: ['import-hub', HUB, '--local', '--name', 'hub', '--prompt-column', 'question'],
    prints: /"item_count":5/,
  },
  { argv: ['login'], stdin: '{key}\n', prints: /credentials/ },
  { argv: ['upload', 'table.pkg.zip', '--name', 'package'], prints: /"item_count":2/, keepsId: 'dataset' },
  { argv: ['upload', 'table.csv', '--name', 'table', ...TABLE], prints: /"item_count":2/ },
  { argv: ['upload', 'table.csv', '--name', 'now', '--no-background', ...TABLE], prints: /"item_count":2/ },
  { argv: ['preview', HUB], prints: /"features"/ },
  { argv: ['import-hub', HUB, '--name', 'hub', '--prompt-column', 'question'], prints: /"item_count":5/ },
  { argv: ['list'], prints: /"name":"package"/ },
  { argv: ['show', '{dataset}'], prints: /"name":"package"/ },
  { argv: ['items', 'package'], prints: /"inputs"/ },
  { argv: ['items', 'package', '--format', 'parquet', '--output', 'items.parquet'] },
  { argv: ['preview', 'items.parquet'], prints: /"num_rows":2/, needsZstd: true },
  { argv: ['diff', 'package', 'hub'], prints: /"added":4,"removed":1,"changed":1/ },
  { argv: ['upload', 'items.jsonl', '--name', 'mine', '--handle', 'my-set'], prints: /"handle":"my-set"/ },
  { argv: ['append', 'my-set', '-'], stdin: '{"id":3,"inputs":{"prompt":"3+3?"}}\n', prints: /"version":2/ },
  { argv: ['upsert', 'my-set', 'items.jsonl', '--dry-run'], prints: /"errors_total":0/ },
  { argv: ['edit', 'my-set', '--id', '3', '--set', '/answer="6"'], prints: /"changed":1/ },
  { argv: ['versions', 'package'], prints: /"source":"upload"/ },
  { argv: ['restore', 'package', '1', '-m', 'again'], prints: /"version":1/ },
  { argv: ['rename', 'hub', 'renamed', '--handle', 'my-hub'], prints: /"name":"renamed"/ },
  { argv: ['show', 'my-hub@1'], prints: /"handle":"my-hub"/ },
  { argv: ['run', 'package', ...ECHO], prints: /"status":"completed"/, keepsId: 'run' },
  { argv: ['run', 'package', ...ECHO, '--try', '1'], prints: /"output":"(?:1\+1|2\+2)\?"/ },
  { argv: ['runs'], prints: /"status":"completed"/ },
  { argv: ['results', '{run}'], prints: /"output"/ },
  { argv: ['results', '{run}', '--format', 'csv', '--output', 'results.csv'] },
  { argv: ['run', 'package', '--set', 'provider.type=external', '--no-wait'], keepsId: 'external' },
  { argv: ['pending', '{external}'], prints: /"item_hash"/ },
  {
    argv: ['results', 'push', '{external}', '-', '--finish', '--allow-missing'],
    stdin: '{"item_id":"default-0","output":"2"}\n',
    prints: /accepted +1/,
  },
  {
    argv: ['rescore', '{run}', '--set', 'checker.type=includes'],
    prints: /"completed"/,
    keepsId: 'rescored',
  },
  { argv: ['compare', '{run}', '{rescored}'], prints: /"paired":2/ },
  { argv: ['rename', '--run', '{run}', '--label', 'baseline'], prints: /"labels":\["baseline"\]/ },
  {
    argv: [
      'gate',
      'package',
      '--config',
      'run.json',
      '--baseline',
      'baseline',
      '--max-drop',
      '0',
      '--undecided',
      'pass',
      '--junit',
      'gate.xml',
      '--summary',
      'gate.md',
    ],
    prints: /"verdict":"undecided"/,
  },
  {
    argv: ['run', 'package', '--set', 'provider.type=echo', 'checker.type=regex', 'checker.pattern="1"'],
    prints: /"mean":0\.5/,
    keepsId: 'varied',
  },
  { argv: ['plan', 'package', '--baseline', '{varied}', '--detect', '0.5'], prints: /"detectable"/ },
  { argv: ['labels', '{run}'], prints: /"data":\[\]/ },
  { argv: ['agreement', '{run}'], prints: /"kappa":null/ },
  { argv: ['export', 'package', '--run', '{run}', '--output', 'exported.pkg.zip'], prints: /"bytes"/ },
  { argv: ['convert', 'exported.pkg.zip', '--to', 'promptfoo', '--output', 'promptfoo.json'] },
  { argv: ['convert', 'promptfoo.json', '--from', 'promptfoo', '--name', 'back'], prints: /"item_count":2/ },
  { argv: ['convert', 'exported.pkg.zip', '--to', 'inspect', '--output', 'inspect.eval'] },
  { argv: ['convert', 'inspect.eval', '--from', 'inspect', '--name', 'inspected'], prints: /"item_count":2/ },
  { argv: ['convert', 'exported.pkg.zip', '--to', 'lm-eval', '--output', 'lm-eval'] },
  { argv: ['convert', 'evals.jsonl', '--from', 'openai-evals', '--name', 'evals'], prints: /"item_count":1/ },
  { argv: ['check', 'exported.pkg.zip'], prints: /"ok":true/ },
  { argv: ['verify', 'exported.pkg.zip'], prints: /"proven":\{"items":2,/ },
  {
    argv: ['run', 'renamed', ...ECHO, 'allow_unscored=true'],
    prints: /"status":"completed"/,
    keepsId: 'unscored',
  },
  { argv: ['retry', '{unscored}', '--only', 'unscored'], prints: /"status":"completed"/ },
  { argv: ['run', 'package', ...ECHO, '--no-wait'], keepsId: 'queued' },
  { argv: ['delete', '--run', '{rescored}', '--yes'], prints: /"deleted":true/ },
  { argv: ['jobs'], prints: /"status":"succeeded"/ },
  { argv: ['cancel', '{job}'], prints: /"status":"succeeded"/ },
  { argv: ['check', 'items.jsonl', 'edited'], prints: /"ok":true/ },
  { argv: ['whoami'], prints: /"role":"admin"/ },
  {
    argv: ['mcp'],
    stdin: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  },
  { argv: ['open', 'package', '--python'], prints: /load_dataset/ },
  { argv: ['open', 'package', '--print'], prints: /\/console\/datasets\// },
  { argv: ['delete', 'package', 'table', 'now', 'mine', 'renamed', '--yes'], prints: /"deleted":true/ },
  { argv: ['logout'], prints: /"deleted":true/ },
];

/**
 * Runs every command of the installed command line with one Node.
 *
 * @returns for each command line what went wrong, and `(all commands)` for a command that no line runs
 */
export async function runEveryCommand(
  { folder }: ConsumerProject,
  node: string,
  { url, apiKey, hubEndpoint }: CommandService,
): Promise<Failures> {
  const cwd = await mkdtemp(join(folder, 'commands-'));
  await writeInputs(cwd);
  const env = { SVC_API_URL: url, HUB_ENDPOINT: hubEndpoint, XDG_CONFIG_HOME: join(cwd, 'config') };
  const values = new Map([['key', apiKey]]);
  const filled = (argument: string): string =>
    argument.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? `{${name}}`);
  const run = async (argv: readonly string[], stdin = ''): Promise<Ended> => {
    const main = join(folder, 'node_modules/svc-pkg/dist/main.js');
    const child = spawn(node, [main, ...argv], { cwd, env: cleanEnvironment(env) });
    child.stdin.on('error', () => undefined).end(stdin);
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, stdout, stderr };
  };

  const failures = new Map<string, string | null>();
  const hasZstd = isAtLeast(await versionOf(node), '22.15.0');
  for (const { argv, stdin, prints, keepsId, needsZstd } of COMMAND_LINES) {
    if (needsZstd && !hasZstd) continue;
    const isText = ['--version', 'help', 'items', 'results', 'pending'].includes(argv[0] ?? '');
    const given = [...(isText ? [] : ['--json']), ...argv.map(filled)];
    const { code, stdout, stderr } = await run(given, stdin === undefined ? '' : filled(stdin));
    const shown = argv[0] === 'completion' ? String(JSON.parse(stdout || '{}').script) : stdout;
    const isRight = code === 0 && (prints === undefined || prints.test(shown));
    failures.set(argv.join(' '), isRight ? null : `exit code ${code}: ${stderr || stdout}`);
    if (isRight && keepsId !== undefined) values.set(keepsId, JSON.parse(stdout).id);
    if (isRight && argv[0] === 'jobs') values.set('job', JSON.parse(stdout).data[0].id);
  }
  const { stdout: help } = await run(['--help']);
  const named = [...help.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
  const missing = named.filter((name) => !COMMAND_LINES.some(({ argv }) => argv[0] === name));
  failures.set('(all commands)', named.length > 0 && missing.length === 0 ? null : `not run: ${missing}`);
  return failures;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function writeInputs(cwd: string): Promise<void> {
  const csv = 'question,answer\n1+1?,2\n2+2?,4\n';
  const lines =
    '{"answer":"2","id":1,"inputs":{"prompt":"1+1?"}}\n{"answer":"4","id":2,"inputs":{"prompt":"2+2?"}}\n';
  await writeFile(join(cwd, 'legacy.zip'), buildLegacyArchive());
  await writeFile(join(cwd, 'table.csv'), csv);
  await writeFile(join(cwd, 'items.jsonl'), lines);
  await writeFile(join(cwd, 'evals.jsonl'), '{"input":"1+1?","ideal":"2"}\n');
  await writeFile(join(cwd, 'run.json'), '{"provider":"echo","checker":"exact_match"}');
  await writeFile(join(cwd, 'tables.zip'), buildZip({ entries: [{ name: 'table.csv', content: csv }] }));
  await mkdir(join(cwd, 'folder'));
  for (const name of ['a', 'b']) await writeFile(join(cwd, `folder/${name}.csv`), csv);
  await mkdir(join(cwd, 'edited/sections'), { recursive: true });
  await writeFile(join(cwd, 'edited/sections/test.jsonl'), lines);
}
