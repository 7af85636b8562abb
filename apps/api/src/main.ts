import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createMetrics } from '@svc/observability';
import { ConfigError, createKeyVault, letHeapGrow, openHub, runProcess, secretsOf } from '@svc/process';
import { createRowEncoder, createStore } from '@svc/store';
import { startApi } from './start-api.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Signal 0 only asks whether the process is there. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

letHeapGrow();
await runProcess('svc-api', process, async (config, logger) => {
  if (config.databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is missing: only `npm start` brings a database of its own']);
  }
  const metrics = createMetrics({ version });
  const store = createStore({ url: config.databaseUrl.reveal(), poolSize: config.databasePoolSize });
  const encoder = createRowEncoder({ threads: availableParallelism() > 1 ? config.workerConcurrency : 0 });
  const hub = openHub(config, logger, metrics, version);
  const api = await startApi({
    config,
    logger,
    metrics,
    store,
    hub,
    encoder,
    version,
    secrets: secretsOf(config),
    vault: config.jobKey === undefined ? null : createKeyVault(config.jobKey),
    pid: process.pid,
    isAlive,
  });
  return {
    stop: async (signal) => {
      await api.stop(signal);
      await hub.close();
      await encoder[Symbol.asyncDispose]();
      await store.close();
    },
    kill: () => {},
  };
});
