import { readFileSync } from 'node:fs';
import {
  checkHubCache,
  configureHeap,
  createMetrics,
  createTokenCipher,
  hubSettings,
  requiredDatabaseUrl,
  runProcess,
  storeSettings,
} from '@svc/service';
import { openHub } from '@svc/service/flows';
import { createStore } from '@svc/service/store';
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
      ...storeSettings(config, logger),
    }),
  );
  const hub = starting.use(openHub({ ...hubSettings(config), version, logger, metrics }));
  await checkHubCache(config, logger);
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
