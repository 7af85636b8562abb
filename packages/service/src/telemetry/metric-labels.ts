/** The values that labels can have. Metrics start with a series for each, at 0. */
export const LABELS = {
  source: ['hub', 'pkg_zip', 'file'],
  importOutcome: ['succeeded', 'failed', 'cancelled'],
  changeMode: ['append', 'upsert', 'replace', 'edit', 'restore'],
  /** `unchanged` if the content is what it was. */
  changeOutcome: ['succeeded', 'unchanged', 'failed', 'cancelled'],
  hubOutcome: [
    ...(['ok', 'redirect', 'not_found', 'denied', 'rate_limited', 'client_error', 'server_error'] as const),
    ...(['bad_response', 'timeout', 'connection_error', 'aborted'] as const),
  ],
  providerOutcome: [
    ...(['ok', 'rejected', 'rate_limited', 'unavailable', 'timeout', 'bad_response'] as const),
    ...(['unauthorized', 'not_found', 'forbidden'] as const),
  ],
  poolState: ['used', 'idle'],
  /** Folders that a process writes to: `SVC_DATA_DIR` and `SVC_HUB_CACHE_DIR`. */
  volume: ['data', 'hub_cache'],
  queueState: ['queued', 'retry', 'running', 'failed'],
  /** What a process needs before it can work, as `/readyz` names it. */
  check: ['database', 'queue', 'accepting'],
  runStatus: ['completed', 'failed', 'cancelled', 'stopped'],
  itemStatus: ['ok', 'failed', 'unscored'],
} as const;

export type Label<Name extends keyof typeof LABELS> = (typeof LABELS)[Name][number];
