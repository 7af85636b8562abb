import { Gauge, Registry } from 'prom-client';
import type { Metrics, MetricsOptions } from './metrics.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { requestMetrics } from './request-metrics.ts';

// https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels, without the colons of recording rules
const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Makes the metrics of one process: its requests, its version, and Node.js. Two calls return two independent sets.
 *
 * @throws RangeError if the prefix cannot begin the name of a metric
 *
 * @example
 * const metrics = createMetrics({ prefix: 'shop', version: '0.1.0' });
 * const request = metrics.startRequest({ method: 'GET' });
 * request.setRoute('/orders/:id');
 * request.finish({ statusCode: 200, durationMs: 12 });
 * await metrics.render();
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { prefix, version, processMetrics = options.registry === undefined } = options;
  if (prefix !== undefined && !NAME.test(prefix)) {
    throw new RangeError(`\`prefix\` must be letters, digits and _, got ${JSON.stringify(prefix)}.`);
  }
  const registry = options.registry ?? new Registry();
  const registers = [registry];
  const nameOf = (name: string): string => (prefix === undefined ? name : `${prefix}_${name}`);
  const requests = requestMetrics(
    nameOf,
    registers,
    options.durationLabels ?? [],
    options.routeDurations ?? false,
  );
  const buildInfo =
    version === undefined
      ? undefined
      : new Gauge({
          name: nameOf('build_info'),
          help: 'Always 1; the version of the product is its label.',
          labelNames: ['version'],
          registers,
        });
  if (processMetrics) collectProcessMetrics(registry);

  // rate() misses the first event of a series that appears with it, so every known series starts at 0.
  const zero = (): void => {
    if (version !== undefined) buildInfo?.set({ version }, 1);
    requests.zero();
  };
  zero();

  const metrics: Metrics = {
    registry,
    contentType: registry.contentType,
    startRequest: requests.startRequest,
    render: () => registry.metrics(),
    resetForTesting() {
      registry.resetMetrics();
      zero();
    },
  };
  made.add(new WeakRef(metrics));
  return metrics;
}

/** The sets of this process, for {@link reset_metrics_for_testing} alone. */
const made = new Set<WeakRef<Pick<Metrics, 'resetForTesting'>>>();

/** Sets all metrics that {@link createMetrics} has made in this process back to their start, so that a test can count from 0. */
export function reset_metrics_for_testing(): void {
  for (const one of made) {
    const metrics = one.deref();
    if (metrics === undefined) made.delete(one);
    else metrics.resetForTesting();
  }
}
