import { ConnectionLost } from '../api/api-problem.ts';
import { useConnection } from '../shell/connection-banner.tsx';
import { ErrorView } from './error-view.tsx';
import { PageSkeleton } from './layout/page-skeleton.tsx';

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
  const { isLost } = useConnection();
  // the banner says that, and the query is repeated when the service is back
  const isAwaited = isLost && error instanceof ConnectionLost;
  if (isPending || (isAwaited && data === undefined)) return <PageSkeleton rows={rows} />;
  if (isAwaited) return null;
  return error === null ? null : <ErrorView error={error} onRetry={() => void refetch()} />;
}
