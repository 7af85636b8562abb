import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useNotify } from '../../ui/layout/notices.tsx';
import { readItem } from '../items/item-windows.ts';
import { changeText, type Version } from './use-versions.ts';

const route = getRouteApi('/datasets/$id');

interface Changed {
  readonly version: number;
  readonly change?: Version['change'];
}

/** Waits for a change of a dataset, reads again what shows the dataset, and shows its newest version. */
export function useChange(): (
  changing: Promise<Changed>,
  /** Position of the item that is open afterwards; by default the same item stays. */
  position?: string,
) => Promise<void> {
  const { id } = route.useParams();
  const refresh = useRefresh();
  const navigate = route.useNavigate();
  const notify = useNotify();
  return async (changing, position) => {
    const { version, change } = await changing;
    const at = position === undefined ? undefined : await readItem({ id, version }, position, undefined);
    await refresh();
    await navigate({
      resetScroll: false,
      replace: true,
      // what was typed is stored
      ignoreBlocker: true,
      search: ({ version: _shown, from: _from, to: _to, ...rest }) =>
        at === undefined ? rest : { ...rest, item: at?.item_hash },
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
