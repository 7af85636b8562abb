import { ConnectionLost } from '../api/api-problem.ts';

/** Whether a page shows the data of a query: also what it has read before the connection was lost, but not after any other error. */
export function isShown<Q extends { readonly data: unknown; readonly error: Error | null }>(
  query: Q,
): query is Q & { readonly data: NonNullable<Q['data']> } {
  const { data, error } = query;
  return data !== undefined && (error === null || error instanceof ConnectionLost);
}
