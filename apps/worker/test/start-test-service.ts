import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HubClient } from '@svc/hub-client';
import {
  createLogger,
  createMetrics,
  createTokenCipher,
  importLimits,
  loadConfig,
  type Metrics,
  secretsOf,
} from '@svc/service';
import { createStore, type Store } from '@svc/store';
import { importItems } from '../../../prisma/test/import-items.ts';
import { createTestDatabase } from '../../../prisma/test/template-db.ts';
import { startApi } from '../../api/src/start-api.ts';
import { type RunningWorker, startWorker } from '../src/start-worker.ts';
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
  readonly worker: RunningWorker;
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

export interface TestServiceOptions {
  /** what an operator would set */
  readonly env?: Readonly<Record<string, string>>;
  readonly hub?: Pick<HubClient, 'openDataset' | 'findDatasets'>;
  /** Address of a migrated database to use instead of a new one. */
  readonly databaseUrl?: string;
  readonly statementTimeoutMs?: number;
  /** False for an API whose workers are separate processes. */
  readonly worker?: boolean;
  /** no notification reaches the worker, as behind a proxy that drops them */
  readonly blockNotifications?: boolean;
}

/** API and worker in one process, each with a separate store, on a new database. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  await using cleanUp = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-worker-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  const database =
    options.databaseUrl === undefined
      ? await createTestDatabase()
      : { url: options.databaseUrl, drop: async () => {} };
  cleanUp.defer(() => database.drop());
  const env = {
    SVC_PORT: '0',
    SVC_WORKER_PORT: '0',
    SVC_DATA_DIR: folder,
    SVC_JOB_KEY: 'deployment secret of the tests',
    HUB_ENDPOINT: 'http://127.0.0.1:9',
    ...options.env,
  };
  const config = loadConfig(env);
  const hub = options.hub ?? createFakeHub({ rows: 10 });
  const tokenCipher = config.jobKey === undefined ? null : createTokenCipher(config.jobKey);

  const part = (service: 'svc-api' | 'svc-worker') => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const logger = createLogger({ service, level: config.logLevel, secrets: secretsOf(config).all, write });
    const metrics = createMetrics({ version: '0.0.0-test', collectProcessMetrics: false });
    return {
      config,
      hub,
      tokenCipher,
      version: '0.0.0-test',
      logger,
      metrics,
      store: cleanUp.use(
        createStore({
          url: database.url,
          directUrl: config.databaseDirectUrl?.reveal(),
          poolSize: 8,
          importLimits: importLimits(config),
          statementTimeoutMs: options.statementTimeoutMs,
        }),
      ),
      log: (): LogLine[] => lines.map((line) => JSON.parse(line)),
    };
  };
  const ofWorker = part('svc-worker');
  const silent = { close: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const worker: RunningWorker =
    options.worker === false
      ? { url: null, stop: async () => {} }
      : await startWorker({
          ...ofWorker,
          store: options.blockNotifications ? { ...ofWorker.store, listen: () => silent } : ofWorker.store,
          databaseUrl: database.url,
          serveAdmin: true,
        });
  cleanUp.defer(() => worker.stop(AbortSignal.abort()));
  const ofApi = part('svc-api');
  const api = await startApi({
    ...ofApi,
    consoleFolder: '',
    pid: process.pid,
    isAlive: () => false,
  });
  let apiStopped = false;
  const stopApi = async (signal: AbortSignal): Promise<void> => {
    if (apiStopped) return;
    apiStopped = true;
    await api.stop(signal);
  };
  cleanUp.defer(() => stopApi(AbortSignal.abort()));

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
    databaseUrl: database.url,
    store: ofApi.store,
    metrics: ofWorker.metrics,
    apiMetrics: ofApi.metrics,
    worker,
    stopApi,
    workerLog: ofWorker.log,
    apiLog: ofApi.log,
    sample: async (name) => {
      const lines = (await ofWorker.metrics.render()).split('\n');
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
      return (await importItems(ofApi.store.datasets, { default: texts })).id;
    },
  };
  const running = cleanUp.move();
  return { ...service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Waits for something to become so, as long as a busy machine may take, and fails with what it was last. */
export async function until<T>(
  read: () => Promise<T> | T,
  isSo: (value: T) => boolean,
  timeoutMs = 150_000,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (performance.now() - startedAt > timeoutMs) {
      throw new Error(`not so within ${timeoutMs} ms: ${JSON.stringify(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
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
