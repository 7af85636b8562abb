import { StoreError, toStoreError } from '../database/errors.ts';

/** What the server reports when a statement took too long, or was cancelled for its client. */
const QUERY_CANCELED = '57014';

/**
 * Whether a read that failed on the replica may succeed on the primary: the connection was lost, or the read
 * conflicted with what the replica replays. A read that took too long would do so again.
 */
export function isReplicaFailure(error: unknown): boolean {
  const found = toStoreError(error);
  if (!(found instanceof StoreError) || found.code !== 'unavailable') return false;
  return found.cause !== undefined && codeOf(found.cause) !== QUERY_CANCELED;
}

/** Whether the replica reported it, rather than that the connection to it was lost. */
export function isConflict(error: unknown): boolean {
  const found = toStoreError(error);
  return found instanceof StoreError && /^40(?:001|P01)$/.test(String(codeOf(found.cause)));
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
