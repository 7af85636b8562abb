import type { Logger, Metrics } from '@svc/instrumentation';
import { json, text } from './response/response.ts';
import { type Route, shape } from './route.ts';

export interface HealthDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Name of a dependency → whether it can be used now; `accepting` is false while draining. */
  readonly checkReadiness: () => Promise<Readonly<Record<string, boolean>>>;
  /** Number of tasks in the queue, by state. */
  readonly queueSizes: () => Promise<Parameters<Metrics['setQueueJobs']>[0]>;
}

/** The endpoints for probes and Prometheus: `/healthz`, `/readyz`, `/metrics`. */
export function healthRoutes({ logger, metrics, checkReadiness, queueSizes }: HealthDeps): readonly Route[] {
  const common = { method: 'get', tag: 'operation', errors: [] } as const;
  return [
    {
      ...common,
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Check that the process responds; depends on nothing else',
      access: 'public',
      produces: 'application/json',
      responses: {
        200: { description: 'alive', schema: shape({ status: { type: 'string', const: 'ok' } }) },
      },
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
      produces: 'application/json',
      responses: {
        200: {
          description: 'ready',
          schema: shape({ status: { type: 'string' }, checks: { type: 'object' } }),
        },
        503: { description: 'not ready; `checks` says why' },
      },
      handle: async () => {
        const checks = await checkReadiness();
        if (Object.values(checks).every(Boolean)) return json({ status: 'ok', checks });
        logger.log('readyz.fail', { checks });
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
      responses: { 200: { description: 'text format 0.0.4', schema: { type: 'string' } } },
      handle: async () => {
        // Without a database, the gauge of the queue keeps its last value.
        await Promise.all([
          checkReadiness().then(metrics.setReadiness),
          queueSizes().then(metrics.setQueueJobs, () => undefined),
        ]);
        return text(await metrics.render(), metrics.contentType);
      },
    },
  ];
}
