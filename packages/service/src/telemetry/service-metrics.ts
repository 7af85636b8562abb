import type {
  ChangeMode,
  ChangeOutcome,
  HubOutcome,
  ImportOutcomeLabel,
  ImportSource,
  PoolState,
  ProviderOutcome,
  QueueState,
  ReadinessCheck,
  RunEndStatus,
  RunItemStatus,
  Volume,
} from './metric-labels.ts';

/** What the service measures beyond its requests. */
export interface ServiceMetrics {
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
