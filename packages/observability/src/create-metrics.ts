import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

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

/** One request in progress. */
export interface RequestMeasurement {
  /** Names the route once it is known: the template with its mount, `/datasets/:id`. */
  setRoute(route: string): void;
  /** Counts the request and takes it out of those in progress. Only the first call counts. */
  finish(response: { statusCode: number; durationMs: number }): void;
}

/** The metrics of one process. */
export interface Metrics {
  /** Where the metrics are registered; register the program's own here. */
  readonly registry: Registry;
  /** Value of the `Content-Type` header for {@link render}. */
  readonly contentType: string;
  /**
   * Begins to measure a request. Call `finish` when the response is finished or its connection closed, whichever comes
   * first (a client that disconnected: status code 499), so that the gauge returns to 0.
   */
  startRequest(request: { method: string | undefined; route?: string | undefined }): RequestMeasurement;
  /** All metrics of the registry in the Prometheus text format 0.0.4. */
  render(): Promise<string>;
  /** Sets every metric of the registry back to its start; requests in progress no longer count. */
  resetForTesting(): void;
}

export interface MetricsOptions {
  /** The registry of prom-client to use; default a new one. */
  readonly registry?: Registry;
  /** The first part of each name: `shop` makes `shop_http_requests_total`; default none. */
  readonly prefix?: string;
  /** Label of the gauge `<prefix>_build_info`, which is left out without it. */
  readonly version?: string;
  /** Labels of the histogram `<prefix>_http_request_duration_seconds`; default none, which is one series for each bucket. */
  readonly durationLabels?: readonly ('method' | 'path')[];
  /** Whether to also make `<prefix>_http_route_duration_seconds`, with the labels `method` and `route` and fewer buckets; default false. */
  readonly routeDurations?: boolean;
  /** Whether to measure Node.js and the process too; default true with a new registry, false with a given one. */
  readonly processMetrics?: boolean;
}

/** The `path` label of a request that matches no route. */
export const UNMATCHED_PATH = '__unmatched__';

/** The `path` label of a request whose route comes after {@link MAX_PATHS} others. */
const OTHER_PATH = '__other__';

/** No program has as many routes: more are a route that the middleware could not tell from its URL. */
const MAX_PATHS = 1000;
const MAX_PATH_LENGTH = 256;

/** The methods of RFC 9110 section 9, and PATCH. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

// From a health check to an upload of gigabytes.
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Few, because each of them is a series for each route. */
const ROUTE_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30];

/** The `method` label: a standard method as it is, anything else `OTHER`. Case counts. */
export function methodLabel(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : 'OTHER';
}

/** The metrics of requests. `zero` begins again, with each series that has no labels at 0. */
function requestMetrics(
  nameOf: (name: string) => string,
  registers: Registry[],
  durationLabels: readonly ('method' | 'path')[],
  hasRouteDurations: boolean,
): Pick<Metrics, 'startRequest'> & { zero(): void } {
  const requests = new Counter({
    name: nameOf('http_requests_total'),
    help: 'HTTP requests, by method, route template and status code; 499 if the client disconnected.',
    labelNames: ['method', 'path', 'status_code'],
    registers,
  });
  const seconds = new Histogram({
    name: nameOf('http_request_duration_seconds'),
    help: 'Time from the head of a request to the end of its response.',
    labelNames: durationLabels,
    buckets: SECONDS,
    registers,
  });
  const routeSeconds = hasRouteDurations
    ? new Histogram({
        name: nameOf('http_route_duration_seconds'),
        help: 'The same by method and route template.',
        labelNames: ['method', 'route'],
        buckets: ROUTE_SECONDS,
        registers,
      })
    : undefined;
  const inProgress = new Gauge({
    name: nameOf('http_requests_in_progress'),
    help: 'HTTP requests in progress, by method and route template.',
    labelNames: ['method', 'path'],
    registers,
  });
  /** A reset begins a new epoch; requests of an earlier one no longer count. */
  let epoch = 0;
  const paths = new Set<string>([UNMATCHED_PATH]);
  const pathLabel = (route: string): string => {
    const path = route.slice(0, MAX_PATH_LENGTH);
    if (!paths.has(path)) {
      if (paths.size >= MAX_PATHS) return OTHER_PATH;
      paths.add(path);
    }
    return path;
  };

  return {
    zero() {
      epoch += 1;
      if (durationLabels.length === 0) seconds.zero({});
    },
    startRequest({ method: requestMethod, route = UNMATCHED_PATH }) {
      const method = methodLabel(requestMethod);
      const startEpoch = epoch;
      let path = pathLabel(route);
      let isFinished = false;
      const isCounted = (): boolean => !isFinished && startEpoch === epoch;
      inProgress.inc({ method, path });
      return {
        setRoute(newPath) {
          if (!isCounted()) return;
          inProgress.dec({ method, path });
          path = pathLabel(newPath);
          inProgress.inc({ method, path });
        },
        finish({ statusCode, durationMs }) {
          if (!isCounted()) return;
          isFinished = true;
          inProgress.dec({ method, path });
          requests.inc({ method, path, status_code: String(statusCode) });
          routeSeconds?.observe({ method, route: path }, durationMs / 1000);
          const labels = { method, path };
          seconds.observe(
            Object.fromEntries(durationLabels.map((name) => [name, labels[name]])),
            durationMs / 1000,
          );
        },
      };
    },
  };
}

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
