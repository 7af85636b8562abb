import {
  collectProcessMetrics,
  createMetrics as createRequestMetrics,
  type Metrics as RequestMetrics,
} from '@svc/observability';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import {
  CHANGE_MODES,
  CHANGE_OUTCOMES,
  type ChangeMode,
  type ChangeOutcome,
  HUB_OUTCOMES,
  type HubOutcome,
  IMPORT_OUTCOMES,
  IMPORT_SOURCES,
  type ImportOutcomeLabel,
  type ImportSource,
  POOL_STATES,
  type PoolState,
  PROVIDER_OUTCOMES,
  type ProviderOutcome,
  QUEUE_STATES,
  type QueueState,
  READINESS_CHECKS,
  type ReadinessCheck,
  RUN_ITEM_STATUSES,
  RUN_STATUSES,
  type RunEndStatus,
  type RunItemStatus,
  type Volume,
} from './metric-labels.ts';

/** The metrics of a process of the service, on a separate registry. */
export type Metrics = RequestMetrics & ServiceMetrics;

export interface MetricsOptions {
  /** Label of `svc_build_info`. */
  readonly version: string;
  /** Whether to measure Node.js and the process too, which adds an observer per call; default true. */
  readonly collectProcessMetrics?: boolean;
}

/** Makes the metrics of one process, each known series at 0. Two calls return two independent sets. */
export function createMetrics(options: MetricsOptions): Metrics {
  const requests = createRequestMetrics({
    prefix: 'svc',
    version: options.version,
    processMetrics: false,
    routeDurations: true,
  });
  const { registry, resetForTesting } = requests;
  const metrics = registerMetrics(registry);
  if (options.collectProcessMetrics ?? true) collectProcessMetrics(registry);
  // rate() misses the first event of a series that appears with it, so every known series starts at 0.
  metrics.zero();

  return Object.assign(requests, {
    recordCancelPoll({ queries, durationMs }) {
      metrics.cancelPolls.inc();
      metrics.cancelPollQueries.inc(queries);
      metrics.cancelPollSeconds.observe(durationMs / 1000);
    },
    recordChange: ({ mode, outcome }) => metrics.changes.inc({ mode, outcome }),
    recordImport({ source, outcome, items, bytes, durationMs }) {
      metrics.imports.inc({ source, outcome });
      metrics.importItems.inc({ source, outcome }, items);
      metrics.importBytes.inc({ source, outcome }, bytes);
      metrics.importSeconds.observe({ source, outcome }, durationMs / 1000);
    },
    recordHubRequest({ outcome, durationMs }) {
      metrics.hubRequests.inc({ outcome });
      metrics.hubSeconds.observe({ outcome }, durationMs / 1000);
    },
    recordProviderRequest({ outcome, durationMs }) {
      metrics.providerRequests.inc({ outcome });
      metrics.providerSeconds.observe(durationMs / 1000);
    },
    recordProviderTokens({ input, output }) {
      if (input !== null) metrics.providerTokens.inc({ direction: 'input' }, input);
      if (output !== null) metrics.providerTokens.inc({ direction: 'output' }, output);
    },
    setQueueJobs(counts) {
      for (const state of QUEUE_STATES) metrics.queueJobs.set({ state }, counts[state] ?? 0);
    },
    setReadiness(checks) {
      for (const check of READINESS_CHECKS) metrics.readiness.set({ check }, checks[check] === true ? 1 : 0);
    },
    setDatabase({ pool, bytes }) {
      for (const state of POOL_STATES) metrics.poolConnections.set({ state }, pool[state]);
      metrics.poolWaiting.set(pool.waiting);
      metrics.databaseBytes.set(bytes);
    },
    setDiskFree(bytes) {
      for (const [volume, free] of Object.entries(bytes)) metrics.diskFree.set({ volume }, free);
    },
    recordRun: (status) => metrics.runs.inc({ status }),
    recordRunItem: (status) => metrics.runItems.inc({ status }),
    recordReusedOutput: () => metrics.reusedOutputs.inc(),
    resetForTesting() {
      resetForTesting();
      metrics.zero();
    },
  } satisfies Partial<Metrics>);
}

/** The labels of a metric with all their values. */
type Labels = Readonly<Record<string, readonly string[]>>;

const QUERY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const IMPORT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const PROVIDER_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const HUB_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const CHANGE = { mode: CHANGE_MODES, outcome: CHANGE_OUTCOMES };
const IMPORT = { source: IMPORT_SOURCES, outcome: IMPORT_OUTCOMES };
const HUB = { outcome: HUB_OUTCOMES };

/** Registers the metrics of the service. `zero` sets every series that they can have to 0. */
function registerMetrics(registry: Registry) {
  const registers = [registry];
  const zeros: (() => void)[] = [];

  function counter(name: string, help: string, labels: Labels = {}): Counter {
    const metric = new Counter({ name, help, labelNames: Object.keys(labels), registers });
    zeros.push(() => forEachSeries(labels, (series) => metric.inc(series, 0)));
    return metric;
  }

  function gauge(name: string, help: string, labels: Labels): Gauge {
    const metric = new Gauge({ name, help, labelNames: Object.keys(labels), registers });
    zeros.push(() => forEachSeries(labels, (series) => metric.set(series, 0)));
    return metric;
  }

  function histogram(name: string, help: string, buckets: number[], labels: Labels = {}): Histogram {
    const metric = new Histogram({ name, help, labelNames: Object.keys(labels), buckets, registers });
    zeros.push(() => forEachSeries(labels, (series) => metric.zero(series)));
    return metric;
  }

  return {
    cancelPolls: counter(
      'runs_cancel_poll_count',
      'Checks whether the cancellation of running runs was requested.',
    ),
    cancelPollQueries: counter(
      'runs_cancel_poll_db_queries_total',
      'Database queries made by checks for cancelled runs.',
    ),
    cancelPollSeconds: histogram(
      'runs_cancel_poll_latency_seconds',
      'Time of the database query of a check for cancelled runs.',
      QUERY_SECONDS,
    ),
    changes: counter(
      'svc_dataset_changes_total',
      'Changes of datasets that ended, by mode and outcome.',
      CHANGE,
    ),
    imports: counter(
      'svc_dataset_imports_total',
      'Dataset imports that ended, by source and outcome.',
      IMPORT,
    ),
    importItems: counter(
      'svc_dataset_import_items_total',
      'Items read by dataset imports, by source and outcome of the import.',
      IMPORT,
    ),
    importBytes: counter(
      'svc_dataset_import_bytes_total',
      'Bytes read by dataset imports, by source and outcome of the import.',
      IMPORT,
    ),
    importSeconds: histogram(
      'svc_dataset_import_duration_seconds',
      'Time of dataset imports, by source and outcome.',
      IMPORT_SECONDS,
      IMPORT,
    ),
    hubRequests: counter(
      'svc_hub_requests_total',
      'Requests to the dataset hub, by outcome; every retry counts.',
      HUB,
    ),
    hubSeconds: histogram(
      'svc_hub_request_duration_seconds',
      'Time of requests to the dataset hub, by outcome.',
      HUB_SECONDS,
      HUB,
    ),
    queueJobs: gauge('svc_queue_jobs', 'Tasks in the queue, by state.', { state: QUEUE_STATES }),
    readiness: gauge('svc_ready', '1 if a readiness check passes, else 0; checked when metrics are read.', {
      check: READINESS_CHECKS,
    }),
    poolConnections: gauge(
      'svc_database_pool_connections',
      'Connections of this process to the database, by state; read when metrics are.',
      { state: POOL_STATES },
    ),
    poolWaiting: gauge('svc_database_pool_waiting', 'Work that waits for a connection to the database.', {}),
    databaseBytes: gauge('svc_database_size_bytes', 'Bytes that the database takes on its disk.', {}),
    // No series before the first measurement: 0 would mean a full disk.
    diskFree: new Gauge({
      name: 'svc_disk_free_bytes',
      help: 'Free bytes of the disk of a folder that this process writes to.',
      labelNames: ['volume'],
      registers,
    }),
    runs: counter('svc_runs_total', 'Runs that ended, by status.', { status: RUN_STATUSES }),
    runItems: counter('svc_run_items_total', 'Results of runs, by status.', { status: RUN_ITEM_STATUSES }),
    reusedOutputs: counter('svc_reused_outputs_total', 'Results of runs with the output of an earlier run.'),
    providerRequests: counter(
      'svc_provider_requests_total',
      'Requests of runs to model providers, by outcome; every retry counts.',
      { outcome: PROVIDER_OUTCOMES },
    ),
    providerSeconds: histogram(
      'svc_provider_request_duration_seconds',
      'Time of requests of runs to model providers.',
      PROVIDER_SECONDS,
    ),
    providerTokens: counter(
      'svc_provider_tokens_total',
      'Tokens that model providers reported, by direction.',
      { direction: ['input', 'output'] },
    ),
    zero: () => {
      for (const zero of zeros) zero();
    },
  };
}

/** Calls `use` with every combination of labels. */
function forEachSeries(labels: Labels, use: (series: Record<string, string>) => void): void {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((series) => values.map((value) => ({ ...series, [label]: value })));
  }
  all.forEach(use);
}

/** What the service measures beyond its requests. */
interface ServiceMetrics {
  /** One check for cancelled runs: how many queries it made and how long they took. */
  recordCancelPoll(poll: { queries: number; durationMs: number }): void;
  /** An import that ended, with what it had read by then. */
  recordImport(done: {
    source: ImportSource;
    outcome: ImportOutcomeLabel;
    items: number;
    bytes: number;
    durationMs: number;
  }): void;
  /** A change of a dataset that ended. */
  recordChange(done: { mode: ChangeMode; outcome: ChangeOutcome }): void;
  /** One request to the hub; each retry is a separate request. */
  recordHubRequest(done: { outcome: HubOutcome; durationMs: number }): void;
  /** One request to a model provider, the judge's too; each retry is a separate request. */
  recordProviderRequest(done: { outcome: ProviderOutcome; durationMs: number }): void;
  /** Tokens that a provider reported for one completion; null if it reported none. */
  recordProviderTokens(tokens: { input: number | null; output: number | null }): void;
  /** The number of tasks in each state; a state that is not named has none. */
  setQueueJobs(counts: Readonly<Partial<Record<QueueState, number>>>): void;
  /** Which readiness checks pass; one that is not named does not. */
  setReadiness(checks: Readonly<Partial<Record<ReadinessCheck, boolean>>>): void;
  /** The connections of the pool of the database, and the bytes that the database takes. */
  setDatabase(state: {
    readonly pool: Readonly<Record<PoolState | 'waiting', number>>;
    readonly bytes: number;
  }): void;
  /** The free bytes of the disk of each folder that this process writes to. */
  setDiskFree(bytes: Readonly<Partial<Record<Volume, number>>>): void;
  /** A run that ended. */
  recordRun(status: RunEndStatus): void;
  /** One result of a run. */
  recordRunItem(status: RunItemStatus): void;
  /** A result with the output of an earlier run. */
  recordReusedOutput(): void;
}
