import type {
  HubOutcome,
  ImportOutcomeLabel,
  ImportSource,
  ProviderOutcome,
  QueueState,
  ReadinessCheck,
  RunEndStatus,
  RunItemStatus,
} from './metric-labels.ts';

/** One request in progress. */
export interface RequestMeasurement {
  /** Names the route once it is known: the template with its mount, `/datasets/:id`. */
  setRoute(route: string): void;
  /** Counts the request and takes it out of those in progress. Only the first call counts. */
  finish(response: { statusCode: number; durationMs: number }): void;
}

/** The product's metrics, on a separate registry. */
export interface Metrics {
  /** Value of the `Content-Type` header for {@link render}. */
  readonly contentType: string;
  /**
   * Begins to measure a request. Call `finish` when the response is finished or its connection closed, whichever comes
   * first (a client that disconnected: status code 499), so that the gauge returns to 0.
   */
  startRequest(request: { method: string | undefined; route?: string | undefined }): RequestMeasurement;
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
  /** One request to the hub; each retry is a separate request. */
  recordHubRequest(done: { outcome: HubOutcome; durationMs: number }): void;
  /** One request to a model provider, the judge's too; each retry is a separate request. */
  recordProviderRequest(done: { outcome: ProviderOutcome; durationMs: number }): void;
  /** Tokens that a provider reported for one completion; null where it reported none. */
  recordProviderTokens(tokens: { input: number | null; output: number | null }): void;
  /** The number of tasks in each state; a state that is not named has none. */
  setQueueJobs(counts: Readonly<Partial<Record<QueueState, number>>>): void;
  /** Which readiness checks pass; one that is not named does not. */
  setReadiness(checks: Readonly<Partial<Record<ReadinessCheck, boolean>>>): void;
  /** A run that ended. */
  recordRun(status: RunEndStatus): void;
  /** One result of a run. */
  recordRunItem(status: RunItemStatus): void;
  /** All metrics in the Prometheus text format 0.0.4. */
  render(): Promise<string>;
  /** Sets every counter, gauge and histogram back to its start; requests in progress no longer count. */
  resetForTesting(): void;
}

export interface MetricsOptions {
  /** Label of `svc_build_info`. */
  readonly version: string;
  /** Whether to measure Node.js and the process too, which adds an observer per call; default true. */
  readonly collectProcessMetrics?: boolean;
}

/** The methods of {@link Metrics} for one area, and how to create each of its series at 0. */
export type MetricArea<Methods extends keyof Metrics> = Pick<Metrics, Methods> & { zero(): void };
