import { ErrorView } from './error-view.tsx';
import { PageSkeleton } from './layout/page-skeleton.tsx';

/** What a query shows in place of its data, or above data that could not be read again: a placeholder, or its error. */
export function QueryState({
  query: { isPending, error, refetch },
  rows,
}: {
  readonly query: {
    readonly isPending: boolean;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  /** Of the placeholder. */
  readonly rows?: number;
}) {
  if (isPending) return <PageSkeleton rows={rows} />;
  return error === null ? null : <ErrorView error={error} onRetry={() => void refetch()} />;
}
