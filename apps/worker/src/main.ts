import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openHub } from '@svc/flows';
import { createMetrics } from '@svc/instrumentation';
import { configureHeap, createTokenCipher, requiredDatabaseUrl, runProcess } from '@svc/runtime';
import { createStore } from '@svc/store';
import { startWorker } from './start-worker.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

configureHeap();
await runProcess('svc-worker', process, async (config, logger) => {
  const databaseUrl = requiredDatabaseUrl(config);
  await using starting = new AsyncDisposableStack();
  const metrics = createMetrics({ version });
  const store = starting.use(
    createStore({
      url: databaseUrl,
      directUrl: config.databaseDirectUrl?.reveal(),
      assetStore: config.assetStore,
      poolSize: config.databasePoolSize,
      maxItemBytes: config.maxLineBytes,
      encoderThreads: availableParallelism() > 1 ? config.workerConcurrency : 0,
    }),
  );
  const hub = starting.use(
    openHub({
      endpoint: config.hubEndpoint,
      token: config.hubToken?.reveal(),
      cacheDir: config.hubCacheDir,
      cacheMaxBytes: config.hubCacheBytes,
      version,
      logger,
      metrics,
    }),
  );
  const worker = await startWorker({
    config,
    logger,
    metrics,
    store,
    databaseUrl,
    hub,
    tokenCipher: config.jobKey === undefined ? null : createTokenCipher(config.jobKey),
    version,
    serveAdmin: true,
  });
  const running = starting.move();
  return {
    stop: async (signal) => {
      await worker.stop(signal);
      await running.disposeAsync();
    },
  };
});
