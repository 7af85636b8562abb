import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
import { startApi } from './start-api.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** A deployed service has the console next to its own files, a clone where it is built. */
const [deployed = '', built = ''] = ['../console', '../../web/dist'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

configureHeap();
await runProcess('svc-api', process, async (config, logger) => {
  const url = requiredDatabaseUrl(config);
  const metrics = createMetrics({ version });
  const store = createStore({ url, ...storeSettings(config, logger) });
  const hub = openHub({ ...hubSettings(config), version, logger, metrics });
  await checkHubCache(config, logger);
  const api = await startApi({
    config,
    logger,
    metrics,
    store,
    hub,
    version,
    consoleFolder: existsSync(deployed) ? deployed : built,
    tokenCipher: config.jobKey === undefined ? null : createTokenCipher(config.jobKey),
  });
  return {
    stop: async (signal) => {
      await api.stop(signal);
      await hub.close();
      await store.close();
    },
  };
});
