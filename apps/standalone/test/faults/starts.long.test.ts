import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../../packages/service/test/store/query-database.ts';
import { processesOf } from '../processes-of.ts';
import { makeNpmClone } from './npm-clone.ts';
import { report, tally } from './report.ts';
import { runService, type ServiceProcess } from './run-service.ts';

const AREA = 'Attacks';
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const IS_ROOT = process.getuid?.() === 0;
const ANONYMOUS = 65_534;

let cleanUp: AsyncDisposableStack;
let folder: string;
let dataDir: string;
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'svc-starts-'));
  dataDir = join(folder, 'data');
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  cleanUp.defer(killAll);
});
afterEach(() => cleanUp.disposeAsync());

/** Ends what a test that failed has left, a server that it has stopped too. */
async function killAll(): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const { pid } of await processesOf(dataDir)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended
    }
  }
}

const start = async (): Promise<ServiceProcess> =>
  cleanUp.use(await runService({ app: 'standalone', dataDir }));

const serverPid = async (): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);

async function expectNothingLeft(): Promise<void> {
  await expect.poll(() => processesOf(dataDir)).toEqual([]);
}

/** URL of the embedded database as a role; its passwords are in files that only its account can read. */
async function urlAs(user: 'svc' | 'postgres'): Promise<string> {
  const file = user === 'svc' ? 'service-password' : 'password';
  const password = (await readFile(join(dataDir, 'postgres', file), 'utf8')).trim();
  return `postgresql://${user}:${password}@${encodeURIComponent(join(dataDir, 'postgres'))}:5432/svc`;
}

/** Ports that a process listens on. */
async function portsOf(pid: number): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  const own = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')),
  );
  return tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter(([, , , state, , , , , , inode = '']) => state === '0A' && own.has(inode))
    .map(([, address = '']) => address);
}

/** What happens when another account of the machine connects to a socket. */
async function connectAsOtherUser(path: string): Promise<string> {
  const script = `require('net').connect(${JSON.stringify(path)}).on('error', ({ code }) => console.log(code)).on('connect', () => console.log('connected'))`;
  const runs = spawn(process.execPath, ['-e', script], {
    ...{ uid: ANONYMOUS, gid: ANONYMOUS, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] },
  });
  const [said] = (await once(runs.stdout, 'data')) as [Buffer];
  runs.kill();
  return said.toString().trim();
}

const capabilities = async (pid: number): Promise<string> =>
  /^CapEff:\s+0*([0-9a-f]+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
const uidOf = async (pid: number | undefined): Promise<number> =>
  Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);

describe.runIf(process.platform === 'linux')('the embedded database', () => {
  it('cannot be reached by others', async (context) => {
    await chmod(folder, 0o755);
    const service = await start();
    expect(await portsOf(await serverPid())).toEqual([]);
    const socket = join(dataDir, 'postgres/.s.PGSQL.5432');
    const observed = IS_ROOT ? await connectAsOtherUser(socket) : 'EACCES';
    expect(observed).toBe('EACCES');
    for (const user of ['svc', 'postgres'] as const) {
      const guessed = new URL(await urlAs(user));
      guessed.password = 'guess';
      await expect(queryDatabase(guessed.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    }
    expect(await service.end('SIGTERM')).toBe(0);
    report(context, {
      area: AREA,
      scenario:
        'another account of the machine takes the port of the embedded database first, or connects to it',
      expected:
        'it listens on no port; only its account may enter the folder of its socket; SCRAM in addition',
      runs: 1,
      observed: { 'no port, EACCES': 1 },
    });
  });

  it.runIf(IS_ROOT)('gives nothing away when it was started by root', async (context) => {
    const folders = [
      ['a folder that only root may enter', 0o700],
      ['a folder that every user may enter', 0o755],
    ] as const;
    for (const [kind, mode] of folders) {
      await rm(dataDir, { recursive: true, force: true });
      await chmod(folder, mode);
      const service = await start();
      const pid = await serverPid();
      expect([await capabilities(pid), (await uidOf(pid)) > 0]).toEqual(['0', true]);
      const secret = join(folder, 'secret');
      await writeFile(secret, 'of root', { mode: 0o600 });
      await expect(queryDatabase(await urlAs('svc'), `SELECT pg_read_file('${secret}')`)).rejects.toThrow(
        'permission denied for function',
      );
      await expect(
        queryDatabase(await urlAs('postgres'), `SELECT pg_read_file('${secret}')`),
      ).rejects.toThrow('Permission denied');
      const roles = `SELECT DISTINCT usename AS role, usesuper AS super FROM pg_stat_activity JOIN pg_user USING (usename)
        WHERE backend_type = 'client backend'`;
      const own = await urlAs('svc');
      // the sessions of the statements before take a moment to end
      await expect.poll(() => queryDatabase(own, roles)).toEqual([{ role: 'svc', super: false }]);
      const mayLeave = mode === 0o755 && (await isCodeOpen());
      expect((await uidOf(service.child.pid)) === 0).toBe(!mayLeave);
      expect(service.log().filter(({ event }) => event === 'server.root')).toHaveLength(1);
      await expect.poll(service.stderr).toContain('warning:');
      expect(await service.end('SIGTERM')).toBe(0);
      await expectNothingLeft();
      report(context, {
        area: AREA,
        scenario: `started by root, in ${kind}`,
        expected:
          'no capability, an ordinary role, no file of root is read; a warning, and the service drops root if the account of the database can access code and data',
        runs: 1,
        observed: { 'as expected': 1 },
      });
    }
  });
});

/** Whether every user may enter the folders on the way to the code: only then can root be left. */
async function isCodeOpen(): Promise<boolean> {
  const runs = spawn(process.execPath, ['-e', `require('fs').readFileSync(${JSON.stringify(MAIN)})`], {
    ...{ uid: ANONYMOUS, gid: ANONYMOUS, cwd: '/', stdio: 'ignore' },
  });
  const [code] = (await once(runs, 'exit').catch(() => [1])) as [number];
  return code === 0;
}

// --- a start that is ended --------------------------------------------------------------------------------------

const ENDS = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGTERM to npm', 'SIGKILL to npm'] as const;
type End = (typeof ENDS)[number];

/** Starts the service, by npm or directly, and does not wait for it. */
function begin(end: End): { child: ChildProcess; ended: Promise<string>; output: () => string } {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SVC_PORT: '0',
    SVC_DATA_DIR: dataDir,
    HUB_ENDPOINT: 'http://127.0.0.1:9',
    npm_config_update_notifier: 'false',
  };
  const isNpm = end.endsWith('npm');
  const child = isNpm
    ? spawn('npm', ['start'], { cwd: join(folder, 'clone'), env, stdio: ['ignore', 'pipe', 'pipe'] })
    : spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
  return { child, ended, output: () => output };
}

/** A number below 1 that looks random, and is the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function expectStarts(): Promise<number> {
  const startedAt = performance.now();
  const service = await start();
  const startMs = performance.now() - startedAt;
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'spool']);
  expect(await service.end('SIGTERM')).toBe(0);
  await expectNothingLeft();
  return startMs;
}

/** What an exit code of a start that was ended may be. */
function codesOf(end: End, hasStarted: boolean): string[] {
  if (end.endsWith('npm') || end === 'SIGKILL') return [end.split(' ')[0] as string];
  // before a handler is there the signal itself ends the process
  return hasStarted ? ['0', end === 'SIGINT' ? '130' : '143'] : [end, end === 'SIGINT' ? '130' : '143'];
}

describe.runIf(process.platform === 'linux')('a start', () => {
  // the tests of the embedded server end its start too
  it('that is ended at any moment leaves nothing behind', async (context) => {
    await mkdir(join(folder, 'clone'));
    await makeNpmClone(join(folder, 'clone'));
    const rounds = 200;
    const random = randomNumbers(rounds);
    // the first start makes the database, the second does not
    const longest = { fresh: await expectStarts(), made: await expectStarts() };
    const found = new Map<End, string[]>(ENDS.map((end) => [end, []]));
    for (let round = 0; round < rounds; round++) {
      const end = ENDS[round % ENDS.length] as End;
      const isFresh = round % 2 === 0;
      if (isFresh) await rm(dataDir, { recursive: true, force: true });
      const begun = begin(end);
      await delay(random() * (isFresh ? longest.fresh : longest.made) * (end.endsWith('npm') ? 1.3 : 1));
      const isThere = begun.child.exitCode === null && begun.child.signalCode === null;
      expect(isThere, begun.output()).toBe(true);
      begun.child.kill(end.split(' ')[0] as NodeJS.Signals);
      const code = await begun.ended;
      await expectNothingLeft();
      const hasStarted = begun.output().includes('"server.start"');
      if (end === 'SIGTERM to npm') expect(code).not.toBe(hasStarted ? '' : '0');
      else expect(codesOf(end, hasStarted), begun.output()).toContain(code);
      found.get(end)?.push(`${hasStarted ? 'had started' : 'had not'}: ${code}`);
      if (round % 8 === 7) await expectStarts();
    }
    await expectStarts();
    for (const [end, codes] of found) {
      report(context, {
        area: AREA,
        scenario: `${end.endsWith('npm') ? `${end} that has started it` : end} at a random moment of a start`,
        expected:
          'no process is left, the exit code is not 0 if startup was not complete, and the next start works',
        runs: codes.length,
        observed: tally(codes),
      });
    }
  }, 3_600_000);

  it('that takes its time is ended as well', async (context) => {
    // Recovery after a crash is what takes the longest; the server is held in it.
    const first = await start();
    process.kill(await serverPid(), 'SIGSTOP');
    await first.end('SIGKILL');
    const begun = begin('SIGTERM');
    await delay(3_000);
    begun.child.kill('SIGTERM');
    const code = await begun.ended;
    expect(['143', 'SIGTERM']).toContain(code);
    process.kill(await serverPid(), 'SIGCONT');
    await expectNothingLeft();
    await expectStarts();
    report(context, {
      area: AREA,
      scenario: 'SIGTERM while a start waits for a server that does not answer',
      expected: 'exit code 143',
      runs: 1,
      observed: { [code]: 1 },
    });
  });
});
