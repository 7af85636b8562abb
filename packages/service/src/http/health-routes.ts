import { statfs } from 'node:fs/promises';
import type { Config } from '../config/load-config.ts';
import type { Store } from '../store/index.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import type { Metrics } from '../telemetry/create-metrics.ts';
import { json, text } from './response/response.ts';
import { ok, type Route, shape } from './route.ts';

/** Whether something that requests need can be used now; if not, why, and what to do about it. */
export type ReadinessCheck = {
  readonly ok: boolean;
  readonly reason?: string;
  readonly detail?: string;
};

/** The value of `accepting` while a process serves, and while it leaves. */
export const ACCEPTING: ReadinessCheck = { ok: true };
export const DRAINING: ReadinessCheck = { ok: false, reason: 'draining', detail: 'The service is stopping.' };

const CHECK = {
  type: 'object',
  required: ['ok'],
  properties: {
    ok: { type: 'boolean' },
    reason: {
      type: 'string',
      enum: ['not_migrated', 'unreachable', 'refused', 'tls', 'full', 'draining'],
      description: 'why it cannot be used, where it is known',
    },
    detail: { type: 'string', description: 'the same in a sentence, and what to do about it' },
  },
} as const;

const READINESS = shape({
  status: { type: 'string', enum: ['ok', 'unavailable'] },
  checks: shape({ database: CHECK, queue: CHECK, accepting: CHECK }),
});

export interface HealthDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly checkReadiness: () => Promise<
    Readonly<Record<'database' | 'queue' | 'accepting', ReadinessCheck>>
  >;
  readonly store: Pick<Store, 'pool' | 'databaseBytes'>;
  readonly config: Pick<Config, 'dataDir' | 'hubCacheDir'>;
  readonly queueSizes: () => Promise<Parameters<Metrics['setQueueJobs']>[0]>;
}

export function healthRoutes(deps: HealthDeps): readonly Route[] {
  const { logger, metrics, checkReadiness, queueSizes } = deps;
  const common = { method: 'get', tag: 'operation' } as const;
  return [
    {
      ...common,
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Check that the process responds; depends on nothing else',
      access: 'public',
      responses: ok('alive', shape({ status: { type: 'string', const: 'ok' } })),
      handle: async () => {
        logger.log('healthz.check');
        // Exactly these bytes, without a line feed.
        return text('{"status":"ok"}', 'application/json');
      },
    },
    {
      ...common,
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Check that requests can be served now',
      access: 'public',
      responses: {
        200: { description: 'ready', schema: READINESS },
        503: { description: 'not ready; `checks` says why', schema: READINESS },
      },
      handle: async () => {
        const checks = await checkReadiness();
        if (Object.values(checks).every(({ ok }) => ok)) return json({ status: 'ok', checks });
        return json({ status: 'unavailable', checks }, 503, { 'Retry-After': '1' });
      },
    },
    {
      ...common,
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Metrics in the Prometheus text format',
      access: 'metrics',
      produces: 'text/plain',
      responses: ok('text format 0.0.4', { type: 'string' }),
      handle: async () => {
        // Without a database, the gauge of the queue keeps its last value.
        await Promise.all([
          checkReadiness().then(metrics.setReadiness),
          measureDatabase(deps).catch(() => undefined),
          measureDisks(deps),
          queueSizes().then(metrics.setQueueJobs, () => undefined),
        ]);
        return text(await metrics.render(), metrics.contentType);
      },
    },
  ];
}

async function measureDatabase({ metrics, store }: HealthDeps): Promise<void> {
  metrics.setDatabase({ pool: store.pool(), bytes: await store.databaseBytes() });
}

/** A folder that is not there yet has no series, nor one on a file system that does not report its size. */
async function measureDisks({ metrics, config }: HealthDeps): Promise<void> {
  for (const [volume, folder] of [
    ['data', config.dataDir],
    ['hub_cache', config.hubCacheDir],
  ] as const) {
    if (folder === undefined) continue;
    const { blocks, bavail, bsize } = await statfs(folder).catch(() => ({ blocks: 0, bavail: 0, bsize: 0 }));
    if (blocks > 0) metrics.setDiskFree({ [volume]: bavail * bsize });
  }
}
