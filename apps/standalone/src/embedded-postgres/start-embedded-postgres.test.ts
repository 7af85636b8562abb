import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@svc/service/store/postgres';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../../tools/vitest/long.ts';
import { makeDataFolder } from '../../test/make-data-folder.ts';
import { processesOf } from '../../test/processes-of.ts';
import { isStoppingOrStarting } from './connection.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './start-embedded-postgres.ts';

let testFolder: string;
/** The same, or below it. */
let dataDir: string;
const started: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];

/** Holds a database that was made and stopped. */
let template: string;
beforeAll(async () => {
  template = await makeDataFolder('svc-embedded-');
  await (await startEmbeddedPostgres({ dataDir: template })).stop();
});
afterAll(() => rm(template, { recursive: true, force: true }));

beforeEach(async () => {
  testFolder = await makeDataFolder('svc-embedded-');
  dataDir = testFolder;
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map((server) => server.stop()));
  await rm(testFolder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir });
  started.push(server);
  return server;
}

/** Lays a copy of a stopped database into the folder, for tests that do not look at how one is made. */
async function layDatabase(): Promise<void> {
  if (process.platform === 'win32') await (await startEmbeddedPostgres({ dataDir })).stop();
  else await promisify(execFile)('cp', ['-a', join(template, 'postgres'), join(dataDir, 'postgres')]);
}

async function query<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

const serverPid = async (): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A server in a separate process, which is killed without a chance to stop it. */
async function startElsewhere(): Promise<ChildProcess> {
  const module = fileURLToPath(new URL('./start-embedded-postgres.ts', import.meta.url));
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(module)};
    const { url } = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(url);
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise((done) => child.stdout?.once('data', done));
  return child;
}

/** What a pid file may hold that belongs to no server. */
const PID_FILES: readonly (readonly [what: string, content: string])[] = [
  ['nothing', ''],
  ['a line break', '\n'],
  ['zeros, as after a loss of power', '\0'.repeat(64)],
  ['garbage', 'garbage\nmore\n'],
  ['zero', '0\n/\n0\n5432\n\n'],
  ['a number that is none', '99999999999999999999\n'],
  ['a dead process', '999999999\n/\n0\n5432\n\n'],
  ['the first process', '1\n/\n0\n5432\n\n'],
  ['another program, as a server for repairs', `-${process.pid}\n`],
  ['another program', `${process.pid}\n/\n0\n5432\n\n\n\nready\n`],
];

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';

describe('a server that runs', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    folder = await makeDataFolder('svc-embedded-');
    // all may enter it, so that only the server's folder is closed
    await chmod(folder, 0o755);
    server = await startEmbeddedPostgres({ dataDir: folder });
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('listens on a socket in a closed folder only, and wants a password', async () => {
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    for (const user of ['svc', 'postgres']) {
      const wrong = new URL(server.url);
      [wrong.username, wrong.password] = [user, 'guess'];
      await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    }
    const modes: Record<string, number> = {};
    for (const name of ['', 'data', 'password', 'service-password', '.s.PGSQL.5432']) {
      modes[name] = (await stat(join(folder, 'postgres', name))).mode & 0o777;
    }
    expect(modes).toEqual({
      ...{ '': 0o700, data: 0o700, password: 0o600, 'service-password': 0o600 },
      '.s.PGSQL.5432': 0o700,
    });
  });

  it('is worked with as an ordinary role that owns the database and nothing else', async () => {
    const [role] = await query(
      server.url,
      `SELECT current_user AS name, rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls AS special,
         (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()) AS owner
       FROM pg_roles WHERE rolname = current_user`,
    );
    expect(role).toEqual({ name: 'svc', special: false, owner: 'svc' });
    // the sessions of the start take a moment to end
    await expect
      .poll(() =>
        query(
          server.url,
          `SELECT usename FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename <> 'svc'`,
        ),
      )
      .toEqual([]);
    await query(server.url, 'CREATE SCHEMA own CREATE TABLE own.t ()');
    for (const statement of [
      "SELECT pg_read_file('/etc/hostname')",
      "CREATE TEMP TABLE o (l text); COPY o FROM PROGRAM 'id'",
      'CREATE ROLE other SUPERUSER',
      'CREATE DATABASE other',
      'SET ROLE postgres',
      "ALTER SYSTEM SET listen_addresses = '*'",
    ]) {
      await expect(query(server.url, statement)).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('folds the case of all letters and is UTF-8', async () => {
    expect(
      await query(
        server.url,
        "SELECT 'ÉTÉ' ILIKE '%été%' AS same, current_setting('server_encoding') AS encoding",
      ),
    ).toEqual([{ same: true, encoding: 'UTF8' }]);
  });

  it('keeps statements and values out of its log', async () => {
    await query(server.url, 'CREATE TABLE t (n int PRIMARY KEY, s text)');
    await query(server.url, "INSERT INTO t VALUES (1, 'secret-prompt')");
    await query(server.url, "INSERT INTO t VALUES (1, 'secret-prompt')").catch(() => undefined);
    await query(server.url, "SELECT 'secret-prompt'::int").catch(() => undefined);
    const log = await readFile(join(folder, 'postgres/server.log'), 'utf8');
    expect(log).toContain('duplicate key');
    expect(log).not.toContain("VALUES (1, 'secret-prompt')");
    expect(log).not.toContain('(1)');
  });

  it.runIf(isRoot)('lets no other account in', async () => {
    const socket = join(folder, 'postgres/.s.PGSQL.5432');
    const tried = spawn(
      process.execPath,
      [
        '-e',
        `require('net').connect(${JSON.stringify(socket)}).on('error', ({ code }) => console.log(code))`,
      ],
      { uid: 65_534, gid: 65_534, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const [said] = await once(tried.stdout, 'data');
    expect(String(said).trim()).toBe('EACCES');
  });
});

describe('the embedded server', () => {
  it('starts in an empty folder, keeps its data, and leaves no process behind', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const pid = await serverPid();
    await first.stop();
    await first.stop();
    await first.ended;
    expect(isAlive(pid)).toBe(false);
    const second = await start();
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it.each([
    ['a blank, a comma, quotes and a percent sign', `it's, "50%" é`],
    ['more characters than a socket may have', `${'long-'.repeat(40)}/${'longer-'.repeat(20)}`],
  ])('works in a folder whose path has %s', async (_, path) => {
    dataDir = join(dataDir, path);
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const pid = await serverPid();
    const folder = decodeURIComponent(new URL(server.url).hostname);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await expect(start()).rejects.toThrow('is using the data folder');
    await server.stop();
    expect(isAlive(pid)).toBe(false);
    // only a folder with the data remains
    expect(await stat(folder).catch(() => null)).toEqual(
      folder.startsWith(dataDir) ? expect.anything() : null,
    );
  });

  it('is refused to a second process while the first one lives', async () => {
    await layDatabase();
    const owner = await startElsewhere();
    await expect(start()).rejects.toMatchObject({
      code: 'embedded_postgres',
      message: expect.stringMatching(new RegExp(`^Process ${owner.pid} is using the data folder`)),
    });
  });

  it('is stopped when its process is killed, and starts again', async () => {
    await layDatabase();
    const owner = await startElsewhere();
    const pid = await serverPid();
    owner.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.runIf(process.platform === 'linux')(
    'is stopped by the next start when its guard was killed too',
    async () => {
      await layDatabase();
      const owner = await startElsewhere();
      const pid = await serverPid();
      // the shell that stops the server after its process
      const helpers = await readFile(`/proc/${owner.pid}/task/${owner.pid}/children`, 'utf8');
      for (const helper of helpers.trim().split(' ').map(Number))
        if (helper !== pid) process.kill(helper, 'SIGKILL');
      owner.kill('SIGKILL');
      await new Promise((done) => owner.once('exit', done));
      expect(isAlive(pid)).toBe(true);
      const { url } = await start();
      expect(isAlive(pid)).toBe(false);
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    },
  );

  it('recovers after the server itself was killed', async () => {
    await layDatabase();
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    process.kill(await serverPid(), 'SIGKILL');
    await first.ended;
    const second = await start();
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it.runIf(IS_LONG)('is not misled by what a pid file holds', async () => {
    await layDatabase();
    for (const [what, content] of PID_FILES) {
      await writeFile(join(dataDir, 'postgres/data/postmaster.pid'), content);
      await writeFile(join(dataDir, 'postgres/.s.PGSQL.5432.lock'), content);
      const server = await start();
      expect(await query(server.url, 'SELECT 1 AS one'), what).toEqual([{ one: 1 }]);
      await server.stop();
    }
  });

  it.runIf(process.platform === 'linux')('is found though its pid file is lost', async () => {
    await layDatabase();
    const owner = await startElsewhere();
    await writeFile(join(dataDir, 'postgres/data/postmaster.pid'), '');
    await expect(start()).rejects.toThrow(`Process ${owner.pid} is using the data folder`);
  });

  it.runIf(IS_LONG)('is made once by processes that start together', async () => {
    const outcomes = await Promise.allSettled([start(), start(), start()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'embedded_postgres' });
    }
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  it('is known to have stopped by a connection that it has closed', async () => {
    await layDatabase();
    const server = await start();
    const client = createClient({ url: server.url });
    client.on('error', () => undefined);
    await client.connect();
    await server.stop();
    for (const _ of ['that it was closed', 'that it is closed']) {
      const error = await client.query('SELECT 1').catch((cause: unknown) => cause);
      expect(isStoppingOrStarting(error), String(error)).toBe(true);
    }
  });

  it.runIf(IS_LONG)('starts again after it was killed while its folder was made', async () => {
    const abandoned = ['postgres.new-999999999-abc', `postgres.new-${process.pid}-abc`];
    for (const name of abandoned) await mkdir(join(dataDir, name, 'data'), { recursive: true });
    const first = await start();
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await readdir(dataDir)).toEqual(['postgres']);
    await first.stop();
    // also where the database is there by now
    for (const name of abandoned) await mkdir(join(dataDir, name, 'data'), { recursive: true });
    await start();
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  it.each([
    [
      'a folder that holds something else',
      async () => {
        await mkdir(join(dataDir, 'postgres'));
        await writeFile(join(dataDir, 'postgres/notes.txt'), '');
      },
      'does not contain a complete database',
    ],
    [
      'a database of another version',
      async () => {
        await layDatabase();
        await writeFile(join(dataDir, 'postgres/data/PG_VERSION'), '12\n');
      },
      'was created by PostgreSQL 12',
    ],
    [
      'a lost password',
      async () => {
        await layDatabase();
        await rm(join(dataDir, 'postgres/password'));
      },
      'Cannot read the password',
    ],
    [
      'a damaged database',
      async () => {
        await layDatabase();
        await rm(join(dataDir, 'postgres/data/global/pg_control'));
      },
      'damaged',
    ],
    [
      'a file in place of the data folder',
      async () => {
        await rm(dataDir, { recursive: true });
        await writeFile(dataDir, '');
      },
      'Cannot create the data folder',
    ],
  ])('says in a sentence what is wrong with %s', async (_, spoil, message) => {
    await spoil();
    await expect(start()).rejects.toMatchObject({
      code: 'embedded_postgres',
      message: expect.stringMatching(new RegExp(`^[^\n]*${message}[^\n]*$`)),
    });
  });

  it('stops starting when it is aborted', async () => {
    await expect(
      startEmbeddedPostgres({ dataDir, signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });

  it.runIf(IS_LONG && process.platform === 'linux')(
    'leaves nothing when the start is aborted, whenever',
    async () => {
      // during initdb, during the start of the server, and when both are there
      const moments = ['.new-', 'data/postmaster.pid', '.s.PGSQL.5432'];
      for (let file = moments.shift(); file !== undefined; ) {
        const sought = file;
        const abort = new AbortController();
        const starting = startEmbeddedPostgres({ dataDir, signal: abort.signal }).then(
          (server) => ({ server }),
          (error: Error) => ({ message: error.message }),
        );
        const appears = async (): Promise<boolean> =>
          (await readdir(dataDir)).some(
            (folder) => folder.includes(sought) || existsSync(join(dataDir, folder, sought)),
          );
        while (!(await appears())) await delay(1);
        abort.abort(new Error(`stopped at ${file}`));
        const outcome = await starting;
        if ('server' in outcome) {
          // it had started before the abort: once more
          await outcome.server.stop();
          await rm(join(dataDir, 'postgres'), { recursive: true });
          continue;
        }
        expect(outcome).toEqual({ message: `stopped at ${file}` });
        expect(await processesOf(dataDir)).toEqual([]);
        file = moments.shift();
      }
      await start();
    },
  );

  it.runIf(IS_LONG && process.platform === 'linux')(
    'leaves nothing when its process is killed in initdb',
    async () => {
      const owner = startElsewhere().catch(() => undefined);
      await expect.poll(() => readdir(dataDir)).not.toEqual([]);
      await expect.poll(async () => (await processesOf(dataDir)).length).toBeGreaterThan(1);
      children.at(-1)?.kill('SIGKILL');
      await expect.poll(() => processesOf(dataDir)).toEqual([]);
      await start();
      expect(await readdir(dataDir)).toEqual(['postgres']);
      void owner;
    },
  );

  it.runIf(isRoot)('runs for root below a folder that only root may enter', async () => {
    await chmod(dataDir, 0o700);
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const status = await readFile(`/proc/${await serverPid()}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t(?!0\t)/m);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) {
      expect(status).toMatch(new RegExp(`^${set}:\t0+$`, 'm'));
    }
  });
});
