import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, migrate, startEmbeddedPostgres } from '@svc/store';
import { queryDatabase } from '../../../../prisma/test/query-database.ts';
import { startTcpProxy, type TcpProxy } from '../../../../prisma/test/tcp-proxy.ts';

/** A migrated PostgreSQL of one test file's own, with a line to it that can fail. */
export interface FaultyDatabase extends AsyncDisposable {
  /** through the line */
  readonly url: string;
  readonly line: TcpProxy;
  /** Stops the server, as for an upgrade, and starts it again. */
  restart(): Promise<void>;
  /** Runs a statement past the line. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have every shape
  query(sql: string): Promise<any[]>;
  /** past the line, for another database or role */
  readonly directUrl: () => string;
  /** process id of the server */
  readonly pid: () => Promise<number>;
}

export async function startDatabase(
  settings: Readonly<Record<string, string>> = {},
): Promise<FaultyDatabase> {
  await using starting = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  starting.defer(() => rm(dataDir, { recursive: true, force: true }));
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      dataDir,
      // what dies here are processes, not the machine
      settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', ...settings },
    });
  let server = await start();
  starting.defer(() => server.stop());
  await migrate(server.url);
  const portOf = (): number => Number(new URL(server.url).port);
  const line = starting.use(await startTcpProxy(portOf()));
  const url = new URL(server.url);
  url.port = String(line.port);

  const running = starting.move();
  return {
    url: url.href,
    line,
    restart: async () => {
      await server.stop();
      server = await start();
      line.target = portOf();
    },
    query: (sql) => queryDatabase(server.url, sql),
    directUrl: () => server.url,
    pid: async () =>
      Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
