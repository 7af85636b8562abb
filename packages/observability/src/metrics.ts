import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type RequestMeasurement, RequestMetrics } from './request-metrics.ts';

/** Where a dataset comes from. */
export type ImportSource = 'hub' | 'pkg_zip';
/** How an import ended. */
export type ImportOutcomeLabel = 'succeeded' | 'failed' | 'cancelled';
/** How a request to the hub ended. */
export type HubOutcome =
  | 'ok'
  | 'redirect'
  | 'not_found'
  | 'denied'
  | 'rate_limited'
  | 'client_error'
  | 'server_error'
  | 'bad_response'
  | 'timeout'
  | 'connection_error'
  | 'aborted';
/** Where a task of the queue stands. */
export type QueueState = 'queued' | 'retry' | 'running' | 'failed';
/** What a process needs before it can do its work; what `/readyz` answers. */
export type ReadinessCheck = 'database' | 'queue' | 'accepting';
/** How a run ended. */
export type RunEndStatus = 'completed' | 'failed' | 'cancelled';
/** What became of one item of a run. */
export type RunItemStatus = 'ok' | 'failed' | 'unscored';

const importSources: readonly ImportSource[] = ['hub', 'pkg_zip'];
const importOutcomes: readonly ImportOutcomeLabel[] = ['succeeded', 'failed', 'cancelled'];
const hubOutcomes: readonly HubOutcome[] = [
  'ok',
  'redirect',
  'not_found',
  'denied',
  'rate_limited',
  'client_error',
  'server_error',
  'bad_response',
  'timeout',
  'connection_error',
  'aborted',
];
const queueStates: readonly QueueState[] = ['queued', 'retry', 'running', 'failed'];
const readinessChecks: readonly ReadinessCheck[] = ['database', 'queue', 'accepting'];
const runEndStatuses: readonly RunEndStatus[] = ['completed', 'failed', 'cancelled'];
const runItemStatuses: readonly RunItemStatus[] = ['ok', 'failed', 'unscored'];

/** Content type of {@link Metrics.render}: Prometheus text format 0.0.4. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
/** The product's metrics, on a registry of their own. */
export interface Metrics {
  /** Value of the `Content-Type` header for {@link render}. */
  readonly contentType: string;
  /**
   * Begins to measure a request. Call `finish` once the response was finished or its connection closed,
   * whichever comes first (a client that went away: status code 499), so that the gauge returns to 0.
   */
  startRequest(request: { method: string | undefined; route?: string | undefined }): RequestMeasurement;
  /** One check for cancelled runs: how many queries it took and for how long they ran. */
  recordCancelPoll(poll: { queries: number; durationMs: number }): void;
  /** An import that ended, with what it had read by then. */
  recordImport(done: {
    source: ImportSource;
    outcome: ImportOutcomeLabel;
    items: number;
    bytes: number;
    durationMs: number;
  }): void;
  /** One request to the hub; every retry is one of its own. */
  recordHubRequest(done: { outcome: HubOutcome; durationMs: number }): void;
  /** How many tasks stand where; a state that is not named has none. */
  setQueueJobs(counts: Readonly<Partial<Record<QueueState, number>>>): void;
  /** Which checks of readiness pass; one that is not named does not. */
  setReadiness(checks: Readonly<Partial<Record<ReadinessCheck, boolean>>>): void;
  /** A run that ended. */
  recordRun(status: RunEndStatus): void;
  /** One result of a run. */
  recordRunItem(status: RunItemStatus): void;
  /** All metrics as text, see {@link METRICS_CONTENT_TYPE}. */
  render(): Promise<string>;
  /** Sets every counter, gauge and histogram back to its start; requests in progress are forgotten. */
  resetForTesting(): void;
}

export interface MetricsOptions {
  /** Label of `svc_build_info`. */
  readonly version: string;
  /** Whether to measure Node.js and the process too, which takes an observer per call; default true. */
  readonly collectProcessMetrics?: boolean;
}

const queryBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const importBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const hubBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

// prom-client gives these gauges the ending of a counter, which promtool rightly objects to; what they count,
// open handles and requests, the process metrics show as file descriptors.
const misnamedProcessMetrics = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Makes the metrics of one process. Nothing is global: two calls give two independent sets.
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

  const requests = new RequestMetrics(registers);
  const buildInfo = new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; the version of the product is its label.',
    labelNames: ['version'],
    registers,
  });
  const cancelPolls = new Counter({
    name: 'runs_cancel_poll_count',
    help: 'Checks whether the cancellation of running runs was requested.',
    registers,
  });
  const cancelPollQueries = new Counter({
    name: 'runs_cancel_poll_db_queries_total',
    help: 'Database queries made by checks for cancelled runs.',
    registers,
  });
  const cancelPollSeconds = new Histogram({
    name: 'runs_cancel_poll_latency_seconds',
    help: 'Time of the database query of a check for cancelled runs.',
    buckets: queryBuckets,
    registers,
  });
  const importLabels = ['source', 'outcome'] as const;
  const imports = new Counter({
    name: 'svc_dataset_imports_total',
    help: 'Dataset imports that ended, by source and outcome.',
    labelNames: importLabels,
    registers,
  });
  const importItems = new Counter({
    name: 'svc_dataset_import_items_total',
    help: 'Items read by dataset imports, by source and outcome of the import.',
    labelNames: importLabels,
    registers,
  });
  const importBytes = new Counter({
    name: 'svc_dataset_import_bytes_total',
    help: 'Bytes read by dataset imports, by source and outcome of the import.',
    labelNames: importLabels,
    registers,
  });
  const importSeconds = new Histogram({
    name: 'svc_dataset_import_duration_seconds',
    help: 'Time of dataset imports, by source and outcome.',
    labelNames: importLabels,
    buckets: importBuckets,
    registers,
  });
  const hubRequests = new Counter({
    name: 'svc_hub_requests_total',
    help: 'Requests to the dataset hub, by outcome; every retry counts.',
    labelNames: ['outcome'],
    registers,
  });
  const hubSeconds = new Histogram({
    name: 'svc_hub_request_duration_seconds',
    help: 'Time of requests to the dataset hub, by outcome.',
    labelNames: ['outcome'],
    buckets: hubBuckets,
    registers,
  });
  const queueJobs = new Gauge({
    name: 'svc_queue_jobs',
    help: 'Tasks in the queue, by state.',
    labelNames: ['state'],
    registers,
  });
  const readiness = new Gauge({
    name: 'svc_ready',
    help: '1 where a check of readiness passes, else 0; asked whenever metrics are read.',
    labelNames: ['check'],
    registers,
  });
  const runs = new Counter({
    name: 'svc_runs_total',
    help: 'Runs that ended, by status.',
    labelNames: ['status'],
    registers,
  });
  const runItems = new Counter({
    name: 'svc_run_items_total',
    help: 'Results of runs, by status.',
    labelNames: ['status'],
    registers,
  });

  if (options.collectProcessMetrics ?? true) {
    collectDefaultMetrics({ register: registry });
    for (const name of misnamedProcessMetrics) registry.removeSingleMetric(name);
  }

  // A series that appears with its first event hides that event from rate(): what is known beforehand starts
  // at 0.
  const start = (): void => {
    buildInfo.set({ version: options.version }, 1);
    requests.reset();
    cancelPollSeconds.zero({});
    for (const source of importSources) {
      for (const outcome of importOutcomes) {
        imports.inc({ source, outcome }, 0);
        importItems.inc({ source, outcome }, 0);
        importBytes.inc({ source, outcome }, 0);
        importSeconds.zero({ source, outcome });
      }
    }
    for (const outcome of hubOutcomes) {
      hubRequests.inc({ outcome }, 0);
      hubSeconds.zero({ outcome });
    }
    for (const state of queueStates) queueJobs.set({ state }, 0);
    for (const check of readinessChecks) readiness.set({ check }, 0);
    for (const status of runEndStatuses) runs.inc({ status }, 0);
    for (const status of runItemStatuses) runItems.inc({ status }, 0);
  };
  start();

  return {
    contentType: METRICS_CONTENT_TYPE,
    startRequest: ({ method, route }) => requests.start(method, route),
    recordCancelPoll({ queries, durationMs }) {
      cancelPolls.inc();
      cancelPollQueries.inc(queries);
      cancelPollSeconds.observe(durationMs / 1000);
    },
    recordImport({ source, outcome, items, bytes, durationMs }) {
      imports.inc({ source, outcome });
      importItems.inc({ source, outcome }, items);
      importBytes.inc({ source, outcome }, bytes);
      importSeconds.observe({ source, outcome }, durationMs / 1000);
    },
    recordHubRequest({ outcome, durationMs }) {
      hubRequests.inc({ outcome });
      hubSeconds.observe({ outcome }, durationMs / 1000);
    },
    setQueueJobs(counts) {
      for (const state of queueStates) queueJobs.set({ state }, counts[state] ?? 0);
    },
    setReadiness(checks) {
      for (const check of readinessChecks) readiness.set({ check }, checks[check] === true ? 1 : 0);
    },
    recordRun: (status) => runs.inc({ status }),
    recordRunItem: (status) => runItems.inc({ status }),
    render: () => registry.metrics(),
    resetForTesting() {
      registry.resetMetrics();
      start();
    },
  };
}

/** Sets all metrics back to their start, so that a test can count from 0. */
export function resetMetricsForTesting(metrics: Metrics): void {
  metrics.resetForTesting();
}

export { resetMetricsForTesting as reset_metrics_for_testing };
