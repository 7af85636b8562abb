import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startApi } from '@svc/api';
import {
  checkAddress,
  checkHubCache,
  configureHeap,
  createMetrics,
  createTokenCipher,
  hubSettings,
  runProcess,
  storeSettings,
} from '@svc/service';
import { openHub } from '@svc/service/flows';
import { createStore, migrate } from '@svc/service/store';
import { startWorker } from '@svc/worker';
import { leaveRoot, obstacleTo } from './embedded-postgres/postgres-account.ts';
import { startEmbeddedPostgres } from './embedded-postgres/start-embedded-postgres.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** A deployed service has the console next to its own files, a clone where it is built. */
const [deployed = '', built = ''] = ['../console', '../../web/dist'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

configureHeap();
await runProcess('svc-standalone', process, async (config, logger, signal) => {
  await using starting = new AsyncDisposableStack();
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);

  // A port that is taken should leave no database behind.
  await checkAddress({ ...config, variables: { host: 'SVC_HOST', port: 'SVC_PORT' } });
  const postgres =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, signal })
      : undefined;
  starting.defer(async () => {
    if (postgres === undefined) return;
    const stoppedAt = performance.now();
    await postgres.stop();
    logger.log('database.stop', { duration_ms: Math.round(performance.now() - stoppedAt) });
  });
  const url = postgres?.url ?? config.databaseUrl?.reveal() ?? '';
  const directUrl = config.databaseDirectUrl?.reveal();
  logger.log('database.start', { embedded: postgres !== undefined, duration_ms: elapsedMs() });
  const { applied, distributed } = await migrate(directUrl ?? url, {
    distributed: config.distributed === 'citus',
  });
  signal.throwIfAborted();
  if (applied.length + distributed.length > 0) {
    logger.log('database.migrate', { applied, distributed, duration_ms: elapsedMs() });
  }

  const metrics = createMetrics({ version });
  const disk = { folder: config.dataDir, sharePercent: config.maxStagingPercent };
  const store = starting.use(
    createStore({ url, ...storeSettings(config, logger), disk: postgres === undefined ? null : disk }),
  );
  const hub = starting.use(openHub({ ...hubSettings(config), version, logger, metrics }));
  const tokenCipher = createTokenCipher(config.jobKey);
  const worker = await startWorker({
    config,
    logger,
    metrics,
    store,
    databaseUrl: url,
    hub,
    tokenCipher,
    version,
    serveAdmin: false,
  });
  starting.defer(() => worker.stop(AbortSignal.abort()));
  signal.throwIfAborted();
  const account = postgres?.account ?? null;
  const obstacle = account && (await obstacleTo(account, config.dataDir));
  const api = await startApi({
    config,
    logger,
    metrics,
    store,
    hub,
    version,
    consoleFolder: existsSync(deployed) ? deployed : built,
    tokenCipher,
  });
  if (account !== null) {
    if (obstacle === null) leaveRoot(account, [join(config.dataDir, 'spool')]);
    logger.log('server.root', {
      uid: process.getuid?.() ?? 0,
      ...(obstacle === null ? {} : { reason: `the database account cannot access ${obstacle}` }),
    });
  }
  await checkHubCache(config, logger);

  process.stderr.write(
    [
      ...(account === null ? [] : ['', ...rootWarning(account.uid, obstacle)]),
      '',
      `  console: ${api.url}`,
      `  API:     ${api.url}/docs  (svc ${version})`,
      `  data:    ${postgres === undefined ? 'the database of DATABASE_URL' : join(config.dataDir, 'postgres')}`,
      `  try:     curl ${api.url}/datasets`,
      '',
      '',
    ].join('\n'),
  );
  const running = starting.move();
  let isStopping = false;
  return {
    // Without its database the service is useless; a supervisor restarts it.
    failed: new Promise((resolve) => {
      void postgres?.ended.then(() => {
        if (!isStopping) resolve(new Error('the embedded database server has ended'));
      });
    }),
    stop: async (signal) => {
      isStopping = true;
      await Promise.all([api.stop(signal), worker.stop(signal)]);
      await running.disposeAsync();
    },
  };
});

function rootWarning(uid: number, obstacle: string | null): string[] {
  return obstacle === null
    ? [`  warning: started as root; switched to the database account (uid ${uid})`]
    : [
        `  warning: running as root: the database account (uid ${uid}) cannot access ${obstacle}:`,
        '           start it as an ordinary user, or from a folder that every user can access',
      ];
}
