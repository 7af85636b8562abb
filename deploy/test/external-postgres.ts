import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryDatabase } from '../../prisma/test/query-database.ts';

/** A PostgreSQL server as an operator has one, with an empty database on it. */
export interface ExternalPostgres extends AsyncDisposable {
  readonly url: string;
}

/** Where Debian and its like keep the programs of PostgreSQL, one folder a version. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of the programs of an installed PostgreSQL; null where there is none. */
export function findPostgres(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((name) => /^\d+$/.test(name)) : [];
  return (
    versions
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, 'bin'))
      .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'psql'))) ?? null
  );
}

/** Starts a server in a temporary folder; as user postgres if this process is root. */
export async function startExternalPostgres(bin: string): Promise<ExternalPostgres> {
  await using starting = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-postgres-'));
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  const account = serverAccount();
  chmodSync(folder, 0o700);
  if (account !== null) chownSync(folder, account.uid, account.gid);
  const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, ...account };
  const data = join(folder, 'data');
  const init = ['--pgdata', data, '--username', 'svc', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync'];
  execFileSync(join(bin, 'initdb'), init, { ...options, stdio: 'ignore' });

  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off' };
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...options, stdio: 'ignore' },
  );
  starting.defer(() => stopServer(server));
  const url = `postgresql://svc@127.0.0.1:${port}/svc`;
  await createDatabase(url);
  const running = starting.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** PostgreSQL does not run as root. */
function serverAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (kind: string): number => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function createDatabase(url: string): Promise<void> {
  const own = new URL(url);
  const name = own.pathname.slice(1);
  own.pathname = '/postgres';
  for (let attempt = 1; ; attempt++) {
    try {
      await queryDatabase(own.href, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
      return;
    } catch (error) {
      if (attempt === 1200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  // SIGINT is a fast shutdown: sessions are ended and not waited for
  server.kill('SIGINT');
  await once(server, 'exit');
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
