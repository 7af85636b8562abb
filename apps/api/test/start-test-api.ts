import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createLogger,
  createMetrics,
  createTokenCipher,
  loadConfig,
  type Metrics,
  secretsOf,
  storeSettings,
} from '@svc/service';
import { openHub } from '@svc/service/flows';
import { createStore, type Store } from '@svc/service/store';
import { createTestDatabase } from '../../../packages/service/test/store/template-db.ts';
import { counted } from '../../../tools/vitest/costs.ts';
import { happened } from '../../../tools/vitest/until.ts';
import { startApi } from '../src/start-api.ts';

export interface TestApi extends AsyncDisposable {
  readonly url: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly store: Store;
  readonly metrics: Metrics;
  /** every log line so far, parsed */
  readonly log: () => Record<string, unknown>[];
  /** Names of the files in the staging folder. */
  readonly stagedFiles: () => Promise<string[]>;
  /** drains with the time that `signal` leaves */
  readonly stop: (signal: AbortSignal) => Promise<void>;
}

export interface TestApiOptions {
  /** Address of a migrated database to use instead of a new one. */
  readonly databaseUrl?: string | undefined;
  readonly hub?: Parameters<typeof startApi>[0]['hub'];
  readonly statementTimeoutMs?: number | undefined;
}

/** The real API on a free port, on its own database; `env` is what an operator would set. */
export async function startTestApi(
  env: Readonly<Record<string, string>> = {},
  options: TestApiOptions = {},
): Promise<TestApi> {
  counted('APIs');
  await using cleanUp = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-api-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  const database =
    options.databaseUrl === undefined
      ? await createTestDatabase()
      : { url: options.databaseUrl, drop: async () => {} };
  cleanUp.defer(() => database.drop());
  const config = loadConfig({
    SVC_PORT: '0',
    SVC_DATA_DIR: folder,
    // what tests say that write their requests byte by byte
    SVC_ALLOWED_HOSTS: 'x',
    // nothing listens there: no test leaves the machine
    HUB_ENDPOINT: 'http://127.0.0.1:9',
    ...env,
  });
  const lines: string[] = [];
  const logger = createLogger({
    service: 'svc-api',
    level: config.logLevel,
    secrets: secretsOf(config).all,
    write: (line) => {
      lines.push(line);
      // Looks of `until` are requests, too.
      if (!line.includes('"event":"http.request"')) happened();
    },
  });
  const metrics = createMetrics({ version: '0.0.0-test', collectProcessMetrics: false });
  const store = createStore({
    url: database.url,
    ...storeSettings(config, logger),
    poolSize: 8,
    encoderThreads: 0,
    statementTimeoutMs: options.statementTimeoutMs,
  });
  cleanUp.defer(() => store.close());
  const hub =
    options.hub ??
    cleanUp.use(
      openHub({
        endpoint: config.hubEndpoint,
        token: config.hubToken?.reveal(),
        version: '0.0.0-test',
        logger,
        metrics,
      }),
    );
  const api = await startApi({
    config,
    logger,
    metrics,
    store,
    hub,
    version: '0.0.0-test',
    consoleFolder: fileURLToPath(new URL('../../web/dist', import.meta.url)),
    tokenCipher: config.jobKey === undefined ? null : createTokenCipher(config.jobKey),
  });
  let stopped = false;
  const stop = async (signal: AbortSignal): Promise<void> => {
    stopped = true;
    await api.stop(signal);
  };
  cleanUp.defer(() => (stopped ? Promise.resolve() : stop(AbortSignal.timeout(0))));
  const running = cleanUp.move();
  return {
    url: api.url,
    databaseUrl: database.url,
    dataDir: folder,
    store,
    metrics,
    log: () => lines.map((line) => JSON.parse(line)),
    stagedFiles: async () =>
      (await readdir(join(folder, 'spool'), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name),
    stop,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
