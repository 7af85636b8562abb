import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useNotify } from '../../ui/layout/notices.tsx';
import { changeText, type Version } from './use-versions.ts';

const route = getRouteApi('/datasets/$id');

interface Changed {
  readonly version: number;
  readonly change?: Version['change'];
}

/** Waits for a change of a dataset, reads again what shows the dataset, and shows its newest version. */
export function useChange(): (changing: Promise<Changed>) => Promise<void> {
  const refresh = useRefresh();
  const navigate = route.useNavigate();
  const notify = useNotify();
  return async (changing) => {
    const { version, change } = await changing;
    await refresh();
    await navigate({
      resetScroll: false,
      replace: true,
      search: ({ version: _shown, from: _from, to: _to, ...rest }) => rest,
    });
    notify(`Version ${version}${change === undefined ? '' : `: ${changeText(change)}`}.`);
  };
}

/** Reads again what shows datasets and their versions. */
export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['dataset', 'datasets', 'versions'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
    );
  };
}
