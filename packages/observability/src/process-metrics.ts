import { collectDefaultMetrics, type Registry } from 'prom-client';

// prom-client gives these gauges the suffix of a counter, which promtool rejects. What they count, open handles and
// requests, the process metrics show as file descriptors.
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Adds the metrics of Node.js and of the process, `nodejs_*` and `process_*`, to a registry. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
