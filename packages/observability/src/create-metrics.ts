import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import {
  cancelPollMetrics,
  hubMetrics,
  importMetrics,
  providerMetrics,
  runMetrics,
  stateMetrics,
} from './metric-areas.ts';
import type { Metrics, MetricsOptions } from './metrics.ts';
import { requestMetrics } from './request-metrics.ts';

// prom-client gives these gauges the suffix of a counter, which promtool rejects. What they count, open handles and
// requests, the process metrics show as file descriptors.
const MISNAMED_PROCESS_METRICS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Makes the metrics of one process. Nothing is global: two calls return two independent sets.
 *
 * @example
 * const metrics = createMetrics({ version: '0.1.0' });
 * const request = metrics.startRequest({ method: 'GET' });
 * request.setRoute('/datasets/:id');
 * request.finish({ statusCode: 200, durationMs: 12 });
 * await metrics.render();
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = requestMetrics(registers);
  const buildInfo = new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; the version of the product is its label.',
    labelNames: ['version'],
    registers,
  });
  const cancelPolls = cancelPollMetrics(registers);
  const imports = importMetrics(registers);
  const hub = hubMetrics(registers);
  const state = stateMetrics(registers);
  const runs = runMetrics(registers);
  const provider = providerMetrics(registers);

  if (options.collectProcessMetrics ?? true) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED_PROCESS_METRICS) registry.removeSingleMetric(name);
  }

  // rate() misses the first event of a series that appears with it, so every known series starts at 0.
  const zero = (): void => {
    buildInfo.set({ version: options.version }, 1);
    for (const area of [requests, cancelPolls, imports, hub, state, runs, provider]) area.zero();
  };
  zero();

  return {
    contentType: registry.contentType,
    startRequest: requests.startRequest,
    recordCancelPoll: cancelPolls.recordCancelPoll,
    recordImport: imports.recordImport,
    recordHubRequest: hub.recordHubRequest,
    setQueueJobs: state.setQueueJobs,
    setReadiness: state.setReadiness,
    recordRun: runs.recordRun,
    recordRunItem: runs.recordRunItem,
    recordProviderRequest: provider.recordProviderRequest,
    recordProviderTokens: provider.recordProviderTokens,
    render: () => registry.metrics(),
    resetForTesting() {
      registry.resetMetrics();
      zero();
    },
  };
}

/** Sets all metrics back to their start, so that a test can count from 0. */
export function resetMetricsForTesting(metrics: Metrics): void {
  metrics.resetForTesting();
}

export { resetMetricsForTesting as reset_metrics_for_testing };
