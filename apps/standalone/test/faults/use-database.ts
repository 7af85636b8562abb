import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { runService, type ServiceOptions, type ServiceProcess } from './run-service.ts';
import { type FaultyDatabase, startDatabase } from './start-database.ts';

/** The database of a test file, and services on it that share a data folder. */
export interface DatabaseOfFile {
  /** From `beforeAll` on. */
  readonly database: FaultyDatabase;
  /** Starts a service, which ends with the test, or with the file where it starts in `beforeAll`. */
  start(options?: Partial<Omit<ServiceOptions, 'dataDir'>>): Promise<ServiceProcess>;
}

/** Gives a test file its own database. Call it once, at the top of the file. */
export function useDatabase(): DatabaseOfFile {
  let ofFile: AsyncDisposableStack;
  let ofTest: AsyncDisposableStack | undefined;
  let database: FaultyDatabase;
  let dataDir: string;
  beforeAll(async () => {
    ofFile = new AsyncDisposableStack();
    dataDir = await mkdtemp(join(tmpdir(), 'svc-faults-'));
    ofFile.defer(() => rm(dataDir, { recursive: true, force: true }));
    database = ofFile.use(await startDatabase());
  });
  beforeEach(() => {
    ofTest = new AsyncDisposableStack();
  });
  afterEach(() => ofTest?.disposeAsync());
  afterAll(() => ofFile.disposeAsync());
  return {
    get database() {
      return database;
    },
    async start({ app = 'api', env, ...options } = {}) {
      const service = await runService({
        ...options,
        app,
        dataDir,
        env: { DATABASE_URL: database.url, ...env },
      });
      return (ofTest ?? ofFile).use(service);
    },
  };
}
