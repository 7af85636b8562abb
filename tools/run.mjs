// The commands of this repository, for a machine that has Node 20 or newer and npm and nothing else:
// `npm start`, `npm test` and the longer ones come here. Plain JavaScript, because it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, constants, setPriority, tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const PNPM = 'pnpm@12.21.0';
const NODE_FILE = `node_modules/node/bin/${process.platform === 'win32' ? 'node.exe' : 'node'}`;
const NODE_24 = join(root, NODE_FILE);
const IS_NODE_24 = process.versions.node.startsWith('24.');
const SOURCE_ROOTS = ['packages', 'apps', 'prisma'];
const NOT_SOURCE = new Set(['node_modules', 'dist', 'generated', '.turbo', 'data']);

const environment = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};

/** The running command, and the signal that stopped this process. */
let running;
let stoppedBy;

function stop(signal) {
  stoppedBy ??= signal;
  if (running === undefined) process.exit(exitCodeOf(signal));
  running.kill(signal);
}

const exitCodeOf = (signal) => ({ SIGINT: 130, SIGKILL: 137 })[signal] ?? 143;

/** A command that failed, with the code that this process ends with. */
class CommandFailed extends Error {
  constructor(code, message = '') {
    super(message);
    this.code = code;
  }
}

/** Runs a command; throws if it fails. */
function run(command, args, options = {}) {
  if (stoppedBy !== undefined) process.exit(exitCodeOf(stoppedBy));
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, env: environment, stdio: 'inherit', ...options });
    running = child;
    child.on('error', (error) => fail(new CommandFailed(1, `could not run ${command}: ${error.message}`)));
    child.on('exit', (code, signal) => {
      running = undefined;
      if (code === 0) done();
      else fail(new CommandFailed(code ?? exitCodeOf(signal)));
    });
  });
}

/**
 * Stops when npm dies for any reason: npm then forwards no signal, and the service would keep running without a parent.
 * There may be a shell between npm and this process, which outlives npm.
 */
function watchNpm() {
  // biome-ignore lint/suspicious/noUndeclaredEnvVars: no task of turbo reads it
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const [grandparent, name] = parentOf(parent);
  const shell = /^-?(?:ba|da|a|z|k)?sh$|^busybox$/.test(name) ? parent : undefined;
  // npm may have died already
  if (adoptsOrphans(shell === undefined ? parent : grandparent)) stop('SIGTERM');
  const isOrphan = () => process.ppid !== parent || (shell !== undefined && !isParentOf(grandparent, shell));
  setInterval(() => {
    if (stoppedBy === undefined && isOrphan()) stop('SIGTERM');
  }, 250).unref();
}

/** Whether a process adopts orphans, such as init, and is not npm as the first process of a container. */
function adoptsOrphans(pid) {
  const name = parentOf(pid)[1];
  if (
    pid > 1 &&
    !/^(?:systemd|init|tini|docker-init|dumb-init|catatonit|conmon|containerd-shim)/.test(name)
  ) {
    return false;
  }
  try {
    // biome-ignore lint/suspicious/noUndeclaredEnvVars: no task of turbo reads it
    return readlinkSync(`/proc/${pid}/exe`) !== realpathSync(process.env.npm_node_execpath ?? '');
  } catch {
    return true;
  }
}

/** Number of the parent of a process, and the name of the process itself. */
function parentOf(pid) {
  if (process.platform === 'linux') {
    try {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      return [Number(parent), name];
    } catch {
      return [0, ''];
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' });
  const [, parent, name = ''] = /^\s*(\d+)\s+(.*)$/m.exec(stdout ?? '') ?? [];
  return [Number(parent ?? 0), basename(name)];
}

/** Called four times a second: only checks whether the child lives where reading its parent needs a process. */
function isParentOf(parent, child) {
  if (process.platform === 'linux') return parentOf(child)[0] === parent;
  try {
    process.kill(parent, 0);
    return true;
  } catch {
    return false;
  }
}

const NPX = process.platform === 'win32' ? 'npx.cmd' : 'npx';

const pnpm = (...args) =>
  run(NPX, ['--yes', PNPM, ...args], {
    // Output of the preparation does not belong to the program's standard output.
    stdio: ['ignore', process.stderr, process.stderr],
  });

/** A command of the preparation of `npm start`: what it prints concerns nobody unless it fails. */
async function quiet(command, ...args) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-start-'));
  const log = join(folder, 'log');
  const output = openSync(log, 'w');
  const end = (code) => {
    if (code !== 0) process.stderr.write(readFileSync(log));
    rmSync(folder, { recursive: true });
  };
  process.once('exit', end);
  await run(command, args, { stdio: ['ignore', output, output] });
  process.off('exit', end);
  closeSync(output);
  end(0);
}

/**
 * Skips a step whose inputs have not changed since it last succeeded: a second start takes seconds.
 *
 * @param others names of steps that do this one's work too
 */
async function unlessDone(name, fingerprint, step, others = []) {
  const isDone = (one) => existsSync(stampOf(one)) && readFileSync(stampOf(one), 'utf8') === fingerprint;
  if ([name, ...others].some(isDone)) return;
  await step();
  writeFileSync(stampOf(name), fingerprint);
}

const stampOf = (step) => join(root, 'node_modules', `.svc-${step}`);

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (NOT_SOURCE.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sourceFiles(path);
    else if (entry.isFile()) yield path;
  }
}

function fingerprintOf(paths, describe) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path}\n`).update(describe(path)).update('\n');
  return hash.digest('hex');
}

const manifests = () =>
  fingerprintOf(
    ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(root, name)),
    (path) => readFileSync(path),
  );

async function install() {
  await unlessDone('installed', manifests(), () => pnpm('install', '--frozen-lockfile'));
}

/** What `npm start` needs, a third of the whole; where the whole was installed before, it is kept up to date. */
async function installService() {
  const parts = ['@svc/standalone...', '@svc/web...', ...(IS_NODE_24 ? [] : ['@svc/node'])];
  const selected = existsSync(stampOf('installed'))
    ? []
    : ['--prod', ...parts.map((part) => `--filter=${part}`)];
  const step = async () => {
    await quiet(NPX, '--yes', PNPM, 'install', '--frozen-lockfile', ...selected);
    removeHeaders();
  };
  await unlessDone(
    selected.length === 0 ? 'installed' : 'installed-service',
    manifests() + (IS_NODE_24 ? '' : '-'),
    step,
  );
}

/** A third of the Node that is installed are headers to compile add-ons with, which nothing here does. */
function removeHeaders() {
  const folder = join(root, 'tools/node/node_modules/node/node_modules');
  const packages = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('node-')) : [];
  for (const name of packages) rmSync(join(folder, name, 'include'), { recursive: true, force: true });
}

/** The state of all sources, and of what is bundled with them. */
function sources() {
  const folders = SOURCE_ROOTS.flatMap((name) => [...sourceFiles(join(root, name))]);
  return fingerprintOf([...folders.sort(), join(root, 'pnpm-lock.yaml')], (path) => {
    const { size, mtimeMs } = statSync(path);
    return `${size} ${mtimeMs}`;
  });
}

async function build() {
  await unlessDone('built', sources(), () => pnpm('run', 'build'));
}

/** Bundles the sources of the service and of the console: neither needs the types, nor the packages apart. */
async function buildService(node) {
  const steps = [
    ['apps/api/scripts/write-openapi.mjs'],
    ['packages/client/scripts/generate-values.mjs'],
    ['node_modules/vite/bin/vite.js', 'build', 'apps/web', '--logLevel', 'warn'],
    ['tools/bundle-service.mjs', 'standalone'],
  ];
  const step = async () => {
    for (const args of steps) await quiet(node, ...args);
  };
  await unlessDone('built-service', sources(), step, ['built']);
}

const START_HELP = `usage: npm start -- [--port <number>] [--data <folder>]

  --port <number>  port of the API and the console, 8080 by default; 0 chooses a free one
  --data <folder>  folder of the database, ./data by default
  --help           print this

Environment variables set everything else: docs/configuration.md
`;

/** Reads the arguments of `npm start` into the variables of the service. */
function startVariables(args) {
  const variables = { '--port': 'SVC_PORT', '--data': 'SVC_DATA_DIR' };
  const found = {};
  const left = args.flatMap((arg) => (/^--\w+=/.test(arg) ? arg.split(/=(.*)/s).slice(0, 2) : [arg]));
  while (left.length > 0) {
    const name = left.shift();
    if (name === '--help' || name === '-h') {
      process.stdout.write(START_HELP);
      process.exit(0);
    }
    const value = left.shift();
    if (!Object.hasOwn(variables, name)) refuseStart(`unknown argument ${JSON.stringify(name)}`);
    if (value === undefined || value === '') refuseStart(`${name} needs a value`);
    // biome-ignore lint/suspicious/noUndeclaredEnvVars: no task of turbo reads it
    found[variables[name]] = name === '--data' ? resolve(process.env.INIT_CWD ?? root, value) : value;
  }
  return found;
}

function refuseStart(reason) {
  process.stderr.write(`npm start: ${reason}\n\n${START_HELP}`);
  process.exit(2);
}

async function start(args) {
  const variables = startVariables(args);
  console.error('[1/3] install');
  await installService();
  // The service runs on Node 24: that of the machine, or else that of the whole installation or of the part.
  const node = IS_NODE_24
    ? process.execPath
    : [NODE_24, join(root, 'tools/node', NODE_FILE)].find((file) => existsSync(file));
  console.error('[2/3] build');
  await buildService(node);
  console.error('[3/3] start');
  // docs/deployment.md#memory
  const GLIBC_TUNABLES =
    'glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=524288:glibc.malloc.trim_threshold=1048576';
  await run(
    node,
    ['--max-semi-space-size=4', '--initial-old-space-size=64', join(root, 'apps/standalone/dist/main.js')],
    {
      env: { GLIBC_TUNABLES, ...environment, ...variables },
      // The service notices by the channel that this process is gone.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    },
  );
}

async function test(args) {
  await install();
  await build();
  for (const check of Object.values(SOURCE_CHECKS)) await check();
  await runTests(args);
}

const SOURCE_CHECKS = {
  format: () => pnpm('run', 'check:format'),
  types: () => pnpm('run', 'types'),
  boundaries: () => run(NODE_24, ['tools/check-boundaries.ts']),
  licences: () => run(NODE_24, ['tools/check-licences.ts']),
};

/** Runs Vitest, and prints how many tests passed, failed and were skipped. */
async function runTests(args, variables = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const report = join(folder, 'report.json');
  try {
    await run(
      NODE_24,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        '--reporter=./tools/vitest/summary-reporter.ts',
        `--outputFile.json=${report}`,
        ...args,
      ],
      { env: { ...environment, ...variables } },
    );
  } finally {
    if (existsSync(report)) {
      const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
      console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What no change should wait for: all tests in their long form, the fast ones under load, the packages as users install them,
 * and the suites for a cluster where TEST_CITUS_URL names one. Arguments select tests, which alone run then. `--write` writes
 * apps/standalone/test/faults/RESULTS.md.
 */
async function testAll(args) {
  const isWritten = args.includes('--write');
  const selected = args.filter((arg) => arg !== '--write');
  if (isWritten && selected.length > 0) {
    console.error('--write records a complete run: use it without other arguments');
    process.exit(2);
  }
  const reporter = isWritten ? ['--reporter=./apps/standalone/test/faults/reliability-reporter.ts'] : [];
  // What faults do to the service is measured, which tests beside them would disturb.
  const long = () => runTests(['--no-file-parallelism', ...reporter, ...selected], { TEST_LONG: '1' });
  await install();
  await build();
  if (selected.length > 0) return await long();
  const citus = environment.TEST_CITUS_URL ?? '';
  delete environment.TEST_CITUS_URL;
  const rounds = [1, 2, 3].map((round) => [`fast suite under load, round ${round}`, () => underLoad()]);
  await runParts({
    ...SOURCE_CHECKS,
    'long form': long,
    ...Object.fromEntries(rounds),
    'turns of the event loop': () => run(NODE_24, ['bench/turns/main.ts']),
    'packages as users install them': () => run(NODE_24, ['tools/check-packages.ts']),
    'suites for Citus': citus === '' ? 'TEST_CITUS_URL names no cluster' : () => onCitus(citus, CITUS_SUITES),
  });
}

/** A part that takes longer hangs: it is ended, and fails. */
const MAX_PART_MS = 4 * 3_600_000;

/**
 * Runs every part, whatever the others do, and prints how each ended; exits with 1 if one failed.
 *
 * @param parts a part that is a text is skipped for that reason
 */
async function runParts(parts) {
  const ends = [];
  for (const [name, part] of Object.entries(parts)) {
    const startedAt = Date.now();
    const minutes = () => `${((Date.now() - startedAt) / 60_000).toFixed(1)} min`;
    if (typeof part === 'string') {
      ends.push(['SKIPPED', '', `${name}: ${part}`]);
      continue;
    }
    console.log(`\n[test:all] ${name}`);
    const limit = setTimeout(() => running?.kill('SIGTERM'), MAX_PART_MS);
    try {
      await part();
      ends.push(['passed', minutes(), name]);
    } catch (error) {
      if (error.message !== '') console.error(error.message);
      ends.push(['FAILED', minutes(), name]);
    } finally {
      clearTimeout(limit);
    }
  }
  console.log('\n[test:all]');
  for (const [end, time, name] of ends) console.log(`${end.padEnd(8)}${time.padStart(10)}  ${name}`);
  if (ends.some(([end]) => end === 'FAILED')) process.exit(1);
}

/** Runs the fast suite while other programs want every core: a test that depends on its time fails then. */
async function underLoad() {
  const others = Array.from({ length: availableParallelism() }, () => {
    const other = spawn(NODE_24, ['--eval', 'for (;;);'], { stdio: 'ignore' });
    setPriority(other.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    return other;
  });
  const end = () => {
    for (const other of others) other.kill('SIGKILL');
  };
  process.on('exit', end);
  try {
    await runTests([]);
  } finally {
    process.off('exit', end);
    end();
  }
}

/** What works on a Citus cluster as on one PostgreSQL: the store, and what reads and writes the tables that are on its nodes. */
const CITUS_SUITES = [
  'packages/service/src/store',
  'packages/service/test/store/lost-node.long.test.ts',
  'apps/api/test/assets.test.ts',
  'apps/api/test/datasets.test.ts',
  'apps/api/test/export.test.ts',
  'apps/api/test/exports-come-in.test.ts',
  'apps/api/test/formats.test.ts',
  'apps/api/test/hub-serving.test.ts',
  'apps/api/test/imported-runs.test.ts',
  'apps/api/test/labels.test.ts',
  'apps/api/test/own-data.test.ts',
  'apps/api/test/tables.test.ts',
  'apps/api/test/upload.test.ts',
  'apps/api/test/versions.test.ts',
  'apps/cli/test/database.test.ts',
  'apps/cli/test/gate.test.ts',
  'apps/cli/test/versions.test.ts',
  'apps/worker/test/asset-runs.test.ts',
  'apps/worker/test/budget.test.ts',
  'apps/worker/test/cancellation.test.ts',
  'apps/worker/test/idempotency.test.ts',
  'apps/worker/test/jobs.test.ts',
  'apps/worker/test/queue.test.ts',
  'apps/worker/test/result-requests.test.ts',
  'apps/worker/test/reuse.test.ts',
  'apps/worker/test/run-lists.test.ts',
  'apps/worker/test/run-numbers.test.ts',
  'apps/worker/test/runs.test.ts',
  'apps/worker/test/scorers.test.ts',
  'apps/worker/test/scores.test.ts',
  'apps/worker/test/try.test.ts',
  'apps/standalone/test/faults/citus-nodes.long.test.ts',
];

/** Runs the suites that need one on the cluster whose coordinator TEST_CITUS_URL names. */
async function testCitus(args) {
  const url = environment.TEST_CITUS_URL ?? '';
  if (url === '') {
    console.error('set TEST_CITUS_URL to a database on the coordinator, which the tests empty');
    process.exit(2);
  }
  await install();
  await build();
  await onCitus(url, args.length > 0 ? args : CITUS_SUITES);
}

const onCitus = (url, suites) =>
  runTests(['--project=service', ...suites], { TEST_CITUS_URL: url, TEST_LONG: '1' });

/** Writes the components of the service as a CycloneDX document to standard output or `--out <file>`. */
async function sbom(args) {
  await install();
  await run(NPX, [
    '--yes',
    PNPM,
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--prod',
    ...args,
  ]);
}

async function bench(args) {
  await install();
  await build();
  await run(NODE_24, ['bench/main.ts', ...args]);
}

/** Checks the packages as users install them, on the Node that runs this: needs the registry, see tools/check-packages.ts. */
async function checkPackages() {
  await install();
  await build();
  await run(NODE_24, ['tools/check-packages.ts', process.execPath]);
}

const commands = {
  start,
  test,
  'test-all': testAll,
  'test-citus': testCitus,
  bench,
  'check-packages': checkPackages,
  sbom,
};
const [name, ...args] = process.argv.slice(2);
const command = commands[name];
if (command === undefined) {
  console.error(`usage: node tools/run.mjs ${Object.keys(commands).join('|')}`);
  process.exit(2);
}
process.on('SIGINT', stop).on('SIGTERM', stop);
watchNpm();
try {
  await command(args);
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error;
  if (error.message !== '') console.error(error.message);
  process.exit(error.code);
}
