import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import {
  CHANGE_MODES,
  CHANGE_OUTCOMES,
  HUB_OUTCOMES,
  IMPORT_OUTCOMES,
  IMPORT_SOURCES,
  PROVIDER_OUTCOMES,
  QUEUE_STATES,
  READ_OUTCOMES,
  READINESS_CHECKS,
  RUN_ITEM_STATUSES,
  RUN_STATUSES,
} from './metric-labels.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** The methods of {@link ServiceMetrics} for one area, and how to create each of its series at 0. */
export type MetricArea<Methods extends keyof ServiceMetrics> = Pick<ServiceMetrics, Methods> & {
  zero(): void;
};

const QUERY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const IMPORT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const PROVIDER_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const HUB_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function cancelPollMetrics(registers: Registry[]): MetricArea<'recordCancelPoll'> {
  const polls = new Counter({
    name: 'runs_cancel_poll_count',
    help: 'Checks whether the cancellation of running runs was requested.',
    registers,
  });
  const queryCount = new Counter({
    name: 'runs_cancel_poll_db_queries_total',
    help: 'Database queries made by checks for cancelled runs.',
    registers,
  });
  const seconds = new Histogram({
    name: 'runs_cancel_poll_latency_seconds',
    help: 'Time of the database query of a check for cancelled runs.',
    buckets: QUERY_SECONDS,
    registers,
  });
  return {
    zero: () => seconds.zero({}),
    recordCancelPoll({ queries, durationMs }) {
      polls.inc();
      queryCount.inc(queries);
      seconds.observe(durationMs / 1000);
    },
  };
}

export function changeMetrics(registers: Registry[]): MetricArea<'recordChange'> {
  const labelNames = ['mode', 'outcome'] as const;
  const changes = new Counter({
    name: 'svc_dataset_changes_total',
    help: 'Changes of datasets that ended, by mode and outcome.',
    labelNames,
    registers,
  });
  return {
    zero() {
      for (const mode of CHANGE_MODES)
        for (const outcome of CHANGE_OUTCOMES) changes.inc({ mode, outcome }, 0);
    },
    recordChange: ({ mode, outcome }) => changes.inc({ mode, outcome }),
  };
}

export function importMetrics(registers: Registry[]): MetricArea<'recordImport'> {
  const labelNames = ['source', 'outcome'] as const;
  const imports = new Counter({
    name: 'svc_dataset_imports_total',
    help: 'Dataset imports that ended, by source and outcome.',
    labelNames,
    registers,
  });
  const itemCount = new Counter({
    name: 'svc_dataset_import_items_total',
    help: 'Items read by dataset imports, by source and outcome of the import.',
    labelNames,
    registers,
  });
  const byteCount = new Counter({
    name: 'svc_dataset_import_bytes_total',
    help: 'Bytes read by dataset imports, by source and outcome of the import.',
    labelNames,
    registers,
  });
  const seconds = new Histogram({
    name: 'svc_dataset_import_duration_seconds',
    help: 'Time of dataset imports, by source and outcome.',
    labelNames,
    buckets: IMPORT_SECONDS,
    registers,
  });
  return {
    zero() {
      for (const source of IMPORT_SOURCES) {
        for (const outcome of IMPORT_OUTCOMES) {
          for (const counter of [imports, itemCount, byteCount]) counter.inc({ source, outcome }, 0);
          seconds.zero({ source, outcome });
        }
      }
    },
    recordImport({ source, outcome, items, bytes, durationMs }) {
      imports.inc({ source, outcome });
      itemCount.inc({ source, outcome }, items);
      byteCount.inc({ source, outcome }, bytes);
      seconds.observe({ source, outcome }, durationMs / 1000);
    },
  };
}

export function hubMetrics(registers: Registry[]): MetricArea<'recordHubRequest'> {
  const requests = new Counter({
    name: 'svc_hub_requests_total',
    help: 'Requests to the dataset hub, by outcome; every retry counts.',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'svc_hub_request_duration_seconds',
    help: 'Time of requests to the dataset hub, by outcome.',
    labelNames: ['outcome'],
    buckets: HUB_SECONDS,
    registers,
  });
  return {
    zero() {
      for (const outcome of HUB_OUTCOMES) {
        requests.inc({ outcome }, 0);
        seconds.zero({ outcome });
      }
    },
    recordHubRequest({ outcome, durationMs }) {
      requests.inc({ outcome });
      seconds.observe({ outcome }, durationMs / 1000);
    },
  };
}

export function providerMetrics(
  registers: Registry[],
): MetricArea<'recordProviderRequest' | 'recordProviderTokens'> {
  const requests = new Counter({
    name: 'svc_provider_requests_total',
    help: 'Requests of runs to model providers, by outcome; every retry counts.',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'svc_provider_request_duration_seconds',
    help: 'Time of requests of runs to model providers.',
    buckets: PROVIDER_SECONDS,
    registers,
  });
  const tokens = new Counter({
    name: 'svc_provider_tokens_total',
    help: 'Tokens that model providers reported, by direction.',
    labelNames: ['direction'],
    registers,
  });
  return {
    zero() {
      for (const outcome of PROVIDER_OUTCOMES) requests.inc({ outcome }, 0);
      seconds.zero({});
      for (const direction of ['input', 'output']) tokens.inc({ direction }, 0);
    },
    recordProviderRequest({ outcome, durationMs }) {
      requests.inc({ outcome });
      seconds.observe(durationMs / 1000);
    },
    recordProviderTokens({ input, output }) {
      if (input !== null) tokens.inc({ direction: 'input' }, input);
      if (output !== null) tokens.inc({ direction: 'output' }, output);
    },
  };
}

export function readMetrics(registers: Registry[]): MetricArea<'recordRead'> {
  const reads = new Counter({
    name: 'svc_database_reads_total',
    help: 'Reads that a replica might serve, by the server that served them.',
    labelNames: ['outcome'],
    registers,
  });
  return {
    zero() {
      for (const outcome of READ_OUTCOMES) reads.inc({ outcome }, 0);
    },
    recordRead: (outcome) => reads.inc({ outcome }),
  };
}

export function stateMetrics(registers: Registry[]): MetricArea<'setQueueJobs' | 'setReadiness'> {
  const queueJobs = new Gauge({
    name: 'svc_queue_jobs',
    help: 'Tasks in the queue, by state.',
    labelNames: ['state'],
    registers,
  });
  const readiness = new Gauge({
    name: 'svc_ready',
    help: '1 if a readiness check passes, else 0; checked when metrics are read.',
    labelNames: ['check'],
    registers,
  });
  const setQueueJobs: ServiceMetrics['setQueueJobs'] = (counts) => {
    for (const state of QUEUE_STATES) queueJobs.set({ state }, counts[state] ?? 0);
  };
  const setReadiness: ServiceMetrics['setReadiness'] = (checks) => {
    for (const check of READINESS_CHECKS) readiness.set({ check }, checks[check] === true ? 1 : 0);
  };
  return {
    zero() {
      setQueueJobs({});
      setReadiness({});
    },
    setQueueJobs,
    setReadiness,
  };
}

export function runMetrics(
  registers: Registry[],
): MetricArea<'recordRun' | 'recordRunItem' | 'recordReusedOutput'> {
  const runs = new Counter({
    name: 'svc_runs_total',
    help: 'Runs that ended, by status.',
    labelNames: ['status'],
    registers,
  });
  const items = new Counter({
    name: 'svc_run_items_total',
    help: 'Results of runs, by status.',
    labelNames: ['status'],
    registers,
  });
  const reused = new Counter({
    name: 'svc_reused_outputs_total',
    help: 'Results of runs with the output of an earlier run.',
    registers,
  });
  return {
    zero() {
      for (const status of RUN_STATUSES) runs.inc({ status }, 0);
      for (const status of RUN_ITEM_STATUSES) items.inc({ status }, 0);
    },
    recordRun: (status) => runs.inc({ status }),
    recordRunItem: (status) => items.inc({ status }),
    recordReusedOutput: () => reused.inc(),
  };
}
