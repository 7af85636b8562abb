import {
  createLogger,
  createMetrics,
  createTokenCipher,
  loadConfig,
  type Metrics,
  secretsOf,
  storeSettings,
} from '@svc/service';
import { createStore, type Store } from '@svc/service/store';
import { importItems } from '../../../packages/service/test/store/import-items.ts';
import { happened, until } from '../../../tools/vitest/until.ts';
import { startTestApi, type TestApiOptions } from '../../api/test/start-test-api.ts';
import { startWorker } from '../src/start-worker.ts';
import { createFakeHub } from './fake-hub.ts';

export type LogLine = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type Body = any;

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface TestService extends AsyncDisposable {
  readonly url: string;
  readonly databaseUrl: string;
  readonly store: Store;
  /** of the worker */
  readonly metrics: Metrics;
  readonly apiMetrics: Metrics;
  readonly worker: Awaited<ReturnType<typeof startWorker>>;
  readonly stopApi: (signal: AbortSignal) => Promise<void>;
  /** what the worker logged so far */
  readonly workerLog: () => LogLine[];
  /** what the API logged so far */
  readonly apiLog: () => LogLine[];
  /** value of a metric's sample, by its name with its labels */
  readonly sample: (name: string) => Promise<number>;
  get(path: string): Promise<TestResponse>;
  post(
    path: string,
    body?: object | FormData,
    headers?: Readonly<Record<string, string>>,
  ): Promise<TestResponse>;
  patch(path: string, body: object): Promise<TestResponse>;
  delete(path: string): Promise<TestResponse>;
  /** stores these items as a dataset of one section, and gives its id */
  importItems(items: readonly object[]): Promise<string>;
}

export interface TestServiceOptions extends TestApiOptions {
  /** what an operator would set */
  readonly env?: Readonly<Record<string, string>>;
  /** False for an API whose workers are separate processes. */
  readonly worker?: boolean;
  /** no notification reaches the worker, as behind a proxy that drops them */
  readonly blockNotifications?: boolean;
}

/** API and worker in one process, each with a separate store, on a new database. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  await using cleanUp = new AsyncDisposableStack();
  const hub = options.hub ?? createFakeHub({ rows: 10 });
  const env = { SVC_JOB_KEY: 'deployment secret of the tests', ...options.env };
  const api = cleanUp.use(await startTestApi(env, { ...options, hub }));
  const config = loadConfig({
    SVC_WORKER_PORT: '0',
    SVC_DATA_DIR: api.dataDir,
    HUB_ENDPOINT: 'http://127.0.0.1:9',
    ...env,
  });
  const lines: string[] = [];
  const write = (line: string): void => {
    lines.push(line);
    happened();
  };
  const logger = createLogger({
    service: 'svc-worker',
    level: config.logLevel,
    secrets: secretsOf(config).all,
    write,
  });
  const metrics = createMetrics({ version: '0.0.0-test', collectProcessMetrics: false });
  const store = cleanUp.use(
    createStore({
      url: api.databaseUrl,
      ...storeSettings(config, logger),
      poolSize: 8,
      encoderThreads: 0,
      statementTimeoutMs: options.statementTimeoutMs,
    }),
  );
  const silent = { close: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const worker: TestService['worker'] =
    options.worker === false
      ? { url: null, stop: async () => {} }
      : await startWorker({
          config,
          hub,
          logger,
          metrics,
          tokenCipher: config.jobKey === undefined ? null : createTokenCipher(config.jobKey),
          version: '0.0.0-test',
          store: options.blockNotifications ? { ...store, listen: () => silent } : store,
          databaseUrl: api.databaseUrl,
          serveAdmin: true,
        });
  cleanUp.defer(() => worker.stop(AbortSignal.abort()));

  const send = async (path: string, init: RequestInit): Promise<TestResponse> => {
    const response = await fetch(`${api.url}${path}`, init);
    const text = await response.text();
    const isJson = /^application\/json(?:;|$)/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  const sendJson = (method: string, path: string, body: object | undefined, headers = {}) =>
    send(path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const service: Omit<TestService, typeof Symbol.asyncDispose> = {
    url: api.url,
    databaseUrl: api.databaseUrl,
    store: api.store,
    metrics,
    apiMetrics: api.metrics,
    worker,
    stopApi: api.stop,
    workerLog: () => lines.map((line) => JSON.parse(line)),
    apiLog: api.log,
    sample: async (name) => {
      const lines = (await metrics.render()).split('\n');
      return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1] ?? Number.NaN);
    },
    get: (path) => send(path, {}),
    post: (path, body, headers) =>
      body instanceof FormData
        ? send(path, { method: 'POST', body, headers: { ...headers } })
        : sendJson('POST', path, body, headers),
    patch: (path, body) => sendJson('PATCH', path, body),
    delete: (path) => sendJson('DELETE', path, undefined),
    importItems: async (items) => {
      const texts = items.map((item) => JSON.stringify(item));
      return (await importItems(api.store.datasets, { default: texts })).id;
    },
  };
  const running = cleanUp.move();
  return { ...service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Waits for the end of a run. */
export async function runEnded(
  service: Pick<TestService, 'get'>,
  id: string,
  timeoutMs?: number,
): Promise<Body> {
  const { body } = await until(
    () => service.get(`/runs/${id}`),
    ({ body: run }) => run.finished_at !== null,
    timeoutMs,
  );
  return body;
}
