import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '@svc/service/store';
import { queryDatabase } from '../../../../packages/service/test/store/query-database.ts';
import { throughLine } from '../../../../packages/service/test/store/server-address.ts';
import { startTcpProxy, type TcpProxy } from '../../../../packages/service/test/store/tcp-proxy.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/embedded-postgres/start-embedded-postgres.ts';
import { makeDataFolder } from '../make-data-folder.ts';
import { superuserUrl } from '../superuser-url.ts';

/** A migrated PostgreSQL of one test file's own, with a line to it that can fail. */
export interface FaultyDatabase extends AsyncDisposable {
  /** through the line */
  readonly url: string;
  readonly line: TcpProxy;
  /** Stops the server; the line refuses connections until it starts. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server, as for an upgrade, and starts it again. */
  restart(): Promise<void>;
  /** Runs a statement past the line, as a superuser. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have every shape
  query(sql: string): Promise<any[]>;
  /** past the line, as a superuser, for another database or role */
  readonly directUrl: () => string;
  /** process id of the server */
  readonly pid: () => Promise<number>;
}

export async function startDatabase(
  settings: Readonly<Record<string, string>> = {},
): Promise<FaultyDatabase> {
  await using starting = new AsyncDisposableStack();
  const dataDir = await makeDataFolder('svc-faults-');
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
  const line = starting.use(await startTcpProxy(server.url));
  const superuser = await superuserUrl(server.url, dataDir);

  const startServer = async (): Promise<void> => {
    server = await start();
    line.target = server.url;
  };

  const running = starting.move();
  return {
    url: throughLine(server.url, line),
    line,
    stop: async () => {
      await server.stop();
      line.target = null;
      line.cut();
    },
    start: startServer,
    restart: async () => {
      await server.stop();
      await startServer();
    },
    query: (sql) => queryDatabase(superuser, sql),
    directUrl: () => superuser,
    pid: async () =>
      Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
