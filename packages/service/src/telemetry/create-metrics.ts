import { collectProcessMetrics, createMetrics as createRequestMetrics } from '@svc/observability';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { LABELS, type Label } from './events.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Makes the metrics of one process, each known series at 0. Two calls return two independent sets.
 *
 * @param options `version`: label of `svc_build_info`; `collectProcessMetrics`: whether to measure Node.js and the process too,
 * which adds an observer per call; default true
 */
export function createMetrics(options: {
  readonly version: string;
  readonly collectProcessMetrics?: boolean;
}) {
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
    /** One check for cancelled runs: how many queries it made and how long they took. */
    recordCancelPoll({ queries, durationMs }: { queries: number; durationMs: number }): void {
      metrics.cancelPolls.inc();
      metrics.cancelPollQueries.inc(queries);
      metrics.cancelPollSeconds.observe(durationMs / 1000);
    },
    recordChange: (done: { mode: Label<'changeMode'>; outcome: Label<'changeOutcome'> }): void =>
      metrics.changes.inc(done),
    recordImport({
      items,
      bytes,
      durationMs,
      ...labels
    }: {
      source: Label<'source'>;
      outcome: Label<'importOutcome'>;
      items: number;
      bytes: number;
      durationMs: number;
    }): void {
      metrics.imports.inc(labels);
      metrics.importItems.inc(labels, items);
      metrics.importBytes.inc(labels, bytes);
      metrics.importSeconds.observe(labels, durationMs / 1000);
    },
    /** One request to the hub; each retry is a separate request. */
    recordHubRequest({ outcome, durationMs }: { outcome: Label<'hubOutcome'>; durationMs: number }): void {
      metrics.hubRequests.inc({ outcome });
      metrics.hubSeconds.observe({ outcome }, durationMs / 1000);
    },
    /** One request to a model provider, the judge's too; each retry is a separate request. */
    recordProviderRequest({
      outcome,
      durationMs,
    }: {
      outcome: Label<'providerOutcome'>;
      durationMs: number;
    }): void {
      metrics.providerRequests.inc({ outcome });
      metrics.providerSeconds.observe(durationMs / 1000);
    },
    /** Tokens that a provider reported for one completion; null if it reported none. */
    recordProviderTokens({ input, output }: { input: number | null; output: number | null }): void {
      if (input !== null) metrics.providerTokens.inc({ direction: 'input' }, input);
      if (output !== null) metrics.providerTokens.inc({ direction: 'output' }, output);
    },
    /** The number of tasks in each state; a state that is not named has none. */
    setQueueJobs(counts: Readonly<Partial<Record<Label<'queueState'>, number>>>): void {
      for (const state of LABELS.queueState) metrics.queueJobs.set({ state }, counts[state] ?? 0);
    },
    /** Which readiness checks pass; one that is not named does not. */
    setReadiness(checks: Readonly<Partial<Record<Label<'check'>, { readonly ok: boolean }>>>): void {
      for (const check of LABELS.check) metrics.readiness.set({ check }, checks[check]?.ok === true ? 1 : 0);
    },
    setDatabase({
      pool,
      bytes,
    }: {
      readonly pool: Readonly<Record<Label<'poolState'> | 'waiting', number>>;
      readonly bytes: number;
    }): void {
      for (const state of LABELS.poolState) metrics.poolConnections.set({ state }, pool[state]);
      metrics.poolWaiting.set(pool.waiting);
      metrics.databaseBytes.set(bytes);
    },
    setDiskFree(bytes: Readonly<Partial<Record<Label<'volume'>, number>>>): void {
      for (const [volume, free] of Object.entries(bytes)) metrics.diskFree.set({ volume }, free);
    },
    recordRun: (status: Label<'runStatus'>): void => metrics.runs.inc({ status }),
    recordRunItem: (status: Label<'itemStatus'>): void => metrics.runItems.inc({ status }),
    recordReusedOutput: (): void => metrics.reusedOutputs.inc(),
    resetForTesting(): void {
      resetForTesting();
      metrics.zero();
    },
  });
}

type Labels = Readonly<Record<string, readonly string[]>>;

const QUERY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const IMPORT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const PROVIDER_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const HUB_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const CHANGE = { mode: LABELS.changeMode, outcome: LABELS.changeOutcome };
const IMPORT = { source: LABELS.source, outcome: LABELS.importOutcome };
const HUB = { outcome: LABELS.hubOutcome };

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
    queueJobs: gauge('svc_queue_jobs', 'Tasks in the queue, by state.', { state: LABELS.queueState }),
    readiness: gauge('svc_ready', '1 if a readiness check passes, else 0; checked when metrics are read.', {
      check: LABELS.check,
    }),
    poolConnections: gauge(
      'svc_database_pool_connections',
      'Connections of this process to the database, by state; read when metrics are.',
      { state: LABELS.poolState },
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
    runs: counter('svc_runs_total', 'Runs that ended, by status.', { status: LABELS.runStatus }),
    runItems: counter('svc_run_items_total', 'Results of runs, by status.', { status: LABELS.itemStatus }),
    reusedOutputs: counter('svc_reused_outputs_total', 'Results of runs with the output of an earlier run.'),
    providerRequests: counter(
      'svc_provider_requests_total',
      'Requests of runs to model providers, by outcome; every retry counts.',
      { outcome: LABELS.providerOutcome },
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

function forEachSeries(labels: Labels, use: (series: Record<string, string>) => void): void {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((series) => values.map((value) => ({ ...series, [label]: value })));
  }
  all.forEach(use);
}
