import {
  collectProcessMetrics,
  createMetrics as createRequestMetrics,
  type Metrics as RequestMetrics,
} from '@svc/observability';
import {
  cancelPollMetrics,
  changeMetrics,
  hubMetrics,
  importMetrics,
  providerMetrics,
  readMetrics,
  runMetrics,
  stateMetrics,
} from './metric-areas.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** The metrics of a process of the service, on a separate registry. */
export type Metrics = RequestMetrics & ServiceMetrics;

export interface MetricsOptions {
  /** Label of `svc_build_info`. */
  readonly version: string;
  /** Whether to measure Node.js and the process too, which adds an observer per call; default true. */
  readonly collectProcessMetrics?: boolean;
}

/** Makes the metrics of one process, each known series at 0. Nothing is global: two calls return two independent sets. */
export function createMetrics(options: MetricsOptions): Metrics {
  const requests = createRequestMetrics({ prefix: 'svc', version: options.version, processMetrics: false });
  const { registry } = requests;
  const registers = [registry];
  const cancelPolls = cancelPollMetrics(registers);
  const changes = changeMetrics(registers);
  const imports = importMetrics(registers);
  const hub = hubMetrics(registers);
  const state = stateMetrics(registers);
  const runs = runMetrics(registers);
  const provider = providerMetrics(registers);
  const reads = readMetrics(registers);
  if (options.collectProcessMetrics ?? true) collectProcessMetrics(registry);

  // rate() misses the first event of a series that appears with it, so every known series starts at 0.
  const zero = (): void => {
    for (const area of [cancelPolls, changes, imports, hub, state, runs, provider, reads]) area.zero();
  };
  zero();

  return {
    ...requests,
    recordCancelPoll: cancelPolls.recordCancelPoll,
    recordChange: changes.recordChange,
    recordImport: imports.recordImport,
    recordHubRequest: hub.recordHubRequest,
    setQueueJobs: state.setQueueJobs,
    setReadiness: state.setReadiness,
    recordRun: runs.recordRun,
    recordRunItem: runs.recordRunItem,
    recordReusedOutput: runs.recordReusedOutput,
    recordProviderRequest: provider.recordProviderRequest,
    recordProviderTokens: provider.recordProviderTokens,
    recordRead: reads.recordRead,
    resetForTesting() {
      requests.resetForTesting();
      zero();
    },
  };
}
