import { Skeleton, Stack } from '@mantine/core';
import { useIsLost } from '../shell/connection-banner.tsx';
import { ErrorView } from './error-view.tsx';
import { ConnectionLost, isRefusal } from '../api/api.ts';

/** What a query shows in place of its data, or above data that could not be read again: a placeholder, or its error. */
export function QueryState({
  query: { isPending, data, error, refetch },
  rows,
}: {
  readonly query: {
    readonly isPending: boolean;
    readonly data: unknown;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  /** Of the placeholder. */
  readonly rows?: number;
}) {
  // the banner says that, and the query is repeated when the service is back
  const isAwaited = useIsLost() && error instanceof ConnectionLost;
  if (isPending || (isAwaited && data === undefined)) return <PageSkeleton rows={rows} />;
  if (isAwaited) return null;
  return error === null ? null : <ErrorView error={error} onRetry={() => void refetch()} />;
}

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

/** A placeholder for a page while its data loads. */
export function PageSkeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <Stack gap="sm" p="md" aria-busy="true" aria-label="Loading" role="status">
      <Skeleton height={24} width="30%" />
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows of nothing have nothing else
        <Skeleton key={row} height={32} />
      ))}
    </Stack>
  );
}
