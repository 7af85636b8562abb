import { ConnectionLost, isRefusal } from '../api/api-problem.ts';

/**
 * Whether a page shows the data of a query: also what was read before the connection was lost, or the session ended, but not
 * after other errors.
 */
export function isShown<Q extends { readonly data: unknown; readonly error: Error | null }>(
  query: Q,
): query is Q & { readonly data: NonNullable<Q['data']> } {
  const { data, error } = query;
  const isSignedOut = isRefusal(error, 401);
  return data !== undefined && (error === null || error instanceof ConnectionLost || isSignedOut);
}
