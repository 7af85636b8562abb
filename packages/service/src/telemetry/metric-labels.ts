/** Every value that a label can have. Metrics start with a series for each, at 0. */

export const IMPORT_SOURCES = ['hub', 'pkg_zip', 'file'] as const;
export type ImportSource = (typeof IMPORT_SOURCES)[number];

export const IMPORT_OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const;
export type ImportOutcomeLabel = (typeof IMPORT_OUTCOMES)[number];

export const CHANGE_MODES = ['append', 'upsert', 'replace', 'edit', 'restore'] as const;
export type ChangeMode = (typeof CHANGE_MODES)[number];

export const CHANGE_OUTCOMES = ['succeeded', 'unchanged', 'failed', 'cancelled'] as const;
/** How a change of a dataset ended; `unchanged` if its content is what it was. */
export type ChangeOutcome = (typeof CHANGE_OUTCOMES)[number];

export const HUB_OUTCOMES = [
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
] as const;
export type HubOutcome = (typeof HUB_OUTCOMES)[number];

export const PROVIDER_OUTCOMES = [
  'ok',
  'rejected',
  'rate_limited',
  'unavailable',
  'timeout',
  'bad_response',
  'unauthorized',
  'not_found',
  'forbidden',
] as const;
export type ProviderOutcome = (typeof PROVIDER_OUTCOMES)[number];

export const POOL_STATES = ['used', 'idle'] as const;
export type PoolState = (typeof POOL_STATES)[number];

/** A folder that a process writes to: `SVC_DATA_DIR` or `SVC_HUB_CACHE_DIR`. */
export type Volume = 'data' | 'hub_cache';

export const QUEUE_STATES = ['queued', 'retry', 'running', 'failed'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

export const READINESS_CHECKS = ['database', 'queue', 'accepting'] as const;
/** What a process needs before it can work; `/readyz` returns these checks. */
export type ReadinessCheck = (typeof READINESS_CHECKS)[number];

export const RUN_STATUSES = ['completed', 'failed', 'cancelled', 'stopped'] as const;
export type RunEndStatus = (typeof RUN_STATUSES)[number];

export const RUN_ITEM_STATUSES = ['ok', 'failed', 'unscored'] as const;
export type RunItemStatus = (typeof RUN_ITEM_STATUSES)[number];
