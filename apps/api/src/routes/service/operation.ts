import type { Logger, Metrics } from '@svc/observability';
import { type BufferedResponse, json, type Route, text } from '@svc/runtime';
import { shape } from '../docs/schemas.ts';

export interface OperationDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** name of a dependency → whether it can be used now; `draining` counts as one */
  readonly checkReadiness: () => Promise<Readonly<Record<string, boolean>>>;
  /** brings gauges up to date that are read only when metrics are asked for */
  readonly refreshMetrics: () => Promise<void>;
}

/** The answer of `/healthz`. */
export function checkHealth(logger: Logger): BufferedResponse {
  logger.log('healthz.check');
  return HEALTHY;
}

const HEALTHY: BufferedResponse = json({ status: 'ok' });

/** The endpoints for probes and Prometheus. */
export function operationRoutes({
  logger,
  metrics,
  checkReadiness,
  refreshMetrics,
}: OperationDeps): readonly Route[] {
  return [
    {
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether the process answers; touches nothing else',
      tag: 'operation',
      access: 'public',
      produces: 'application/json',
      responses: { 200: { description: 'alive', schema: shape({ status: { const: 'ok' } }) } },
      errors: [],
      handle: async () => checkHealth(logger),
    },
    {
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether requests can be served now',
      tag: 'operation',
      access: 'public',
      produces: 'application/json',
      responses: {
        200: {
          description: 'ready',
          schema: shape({ status: { type: 'string' }, checks: { type: 'object' } }),
        },
        503: { description: 'not ready; `checks` says why' },
      },
      errors: [],
      handle: async () => {
        const checks = await checkReadiness();
        const ready = Object.values(checks).every(Boolean);
        if (!ready) logger.log('readyz.fail', { checks });
        return json(
          { status: ready ? 'ok' : 'unavailable', checks },
          ready ? 200 : 503,
          ready ? {} : { 'Retry-After': '1' },
        );
      },
    },
    {
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Metrics in the Prometheus text format',
      tag: 'operation',
      access: 'metrics',
      produces: 'text/plain',
      responses: { 200: { description: 'text format 0.0.4', schema: { type: 'string' } } },
      errors: [],
      handle: async () => {
        await refreshMetrics();
        return text(await metrics.render(), metrics.contentType);
      },
    },
  ];
}
