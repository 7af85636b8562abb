import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

let dataDir: string;
const started: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map((server) => server.stop()));
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir });
  started.push(server);
  return server;
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

/** A server in a process of its own, which is killed without a chance to stop it. */
async function startElsewhere(): Promise<ChildProcess> {
  const module = fileURLToPath(new URL('./embedded-postgres.ts', import.meta.url));
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

  it('listens on the loopback interface only and wants its password', async () => {
    const { url } = await start();
    expect(await query(url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    const wrong = new URL(url);
    wrong.password = 'guess';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    const { mode } = await stat(join(dataDir, 'postgres/password'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('folds the case of all letters and is UTF-8', async () => {
    const { url } = await start();
    expect(
      await query(url, "SELECT 'ÉTÉ' ILIKE '%été%' AS same, current_setting('server_encoding') AS encoding"),
    ).toEqual([{ same: true, encoding: 'UTF8' }]);
  });

  it('keeps statements and values out of its log', async () => {
    const { url } = await start();
    await query(url, 'CREATE TABLE t (n int PRIMARY KEY, s text)');
    await query(url, "INSERT INTO t VALUES (1, 'secret-prompt')");
    await query(url, "INSERT INTO t VALUES (1, 'secret-prompt')").catch(() => undefined);
    await query(url, "SELECT 'secret-prompt'::int").catch(() => undefined);
    const log = await readFile(join(dataDir, 'postgres/server.log'), 'utf8');
    expect(log).toContain('duplicate key');
    expect(log).not.toContain("VALUES (1, 'secret-prompt')");
    expect(log).not.toContain('(1)');
  });

  it('is refused to a second process while the first one lives', async () => {
    await startElsewhere();
    await expect(start()).rejects.toMatchObject({
      code: 'embedded_postgres',
      message: expect.stringContaining('Another process is using the database'),
    });
  });

  it('is stopped when its process is killed, and starts again', async () => {
    const owner = await startElsewhere();
    const pid = await serverPid();
    owner.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.runIf(process.platform === 'linux')(
    'is stopped by the next start when nobody could stop it before',
    async () => {
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
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    process.kill(await serverPid(), 'SIGKILL');
    await first.ended;
    const second = await start();
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('is not misled by a pid file whose number belongs to another program', async () => {
    await (await start()).stop();
    await writeFile(join(dataDir, 'postgres/data/postmaster.pid'), `${process.pid}\n${dataDir}\n0\n1\n`);
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is made once by processes that start together', async () => {
    const outcomes = await Promise.allSettled([start(), start(), start()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'embedded_postgres' });
    }
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  it('starts again after it was killed while its folder was made', async () => {
    await mkdir(join(dataDir, 'postgres.new-1-abc/data'), { recursive: true });
    const { url } = await start();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.each([
    [
      'a folder that holds something else',
      async () => {
        await mkdir(join(dataDir, 'postgres'));
        await writeFile(join(dataDir, 'postgres/notes.txt'), '');
      },
      'holds no complete database',
    ],
    [
      'a database of another version',
      async () => {
        await (await start()).stop();
        await writeFile(join(dataDir, 'postgres/data/PG_VERSION'), '12\n');
      },
      'was made by PostgreSQL 12',
    ],
    [
      'a lost password',
      async () => {
        await (await start()).stop();
        await rm(join(dataDir, 'postgres/password'));
      },
      'cannot be read',
    ],
    [
      'a damaged database',
      async () => {
        await (await start()).stop();
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
      'cannot be created',
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

  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'runs for root below a folder that only root may enter',
    async () => {
      await chmod(dataDir, 0o700);
      const { url } = await start();
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      const status = await readFile(`/proc/${await serverPid()}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t(?!0\t)/m);
    },
  );
});
