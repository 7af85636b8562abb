import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useNotify } from '../layout/notices.tsx';

/** Saves something, refreshes the queries that show it, and tells the user. */
export function useSaved(...shownBy: readonly QueryKey[]): (saving: Promise<unknown>) => Promise<void> {
  const queries = useQueryClient();
  const notify = useNotify();
  return async (saving) => {
    await saving;
    await Promise.all(shownBy.map((queryKey) => queries.invalidateQueries({ queryKey })));
    notify('Saved.');
  };
}
