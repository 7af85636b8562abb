import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryDatabase } from '../../../../packages/service/test/store/query-database.ts';
import { createTestDatabase } from '../../../../packages/service/test/store/template-db.ts';
import { runService, type ServiceProcess } from './run-service.ts';

/** A built service and its database, which nothing but the test's own requests disturbs. */
export interface OwnService extends AsyncDisposable {
  readonly service: ServiceProcess;
  /** of its database, past the service */
  readonly databaseUrl: string;
  /** Runs a statement past the service. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have every shape
  query(sql: string): Promise<any[]>;
}

/**
 * Starts a built service on its own empty, migrated database.
 *
 * @param env what an operator would set
 * @param urlOf gives the `DATABASE_URL` that the service sees
 * @param limits a shell command before it, see `ServiceOptions`
 */
export async function startService(
  env: Readonly<Record<string, string>> = {},
  app: 'api' | 'standalone' = 'api',
  urlOf: (databaseUrl: string) => string | Promise<string> = (url) => url,
  limits?: string,
): Promise<OwnService> {
  await using starting = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  starting.defer(() => rm(dataDir, { recursive: true, force: true }));
  const database = await createTestDatabase();
  starting.defer(() => database.drop());
  const service = starting.use(
    await runService({
      app,
      dataDir,
      env: { DATABASE_URL: await urlOf(database.url), ...env },
      ...(limits === undefined ? {} : { limits }),
    }),
  );
  const running = starting.move();
  return {
    service,
    databaseUrl: database.url,
    query: (sql) => queryDatabase(database.url, sql),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
