import type { Route } from '@svc/service';
import { fileRoute } from './file.ts';
import { historyRoutes } from './history.ts';
import { callerRoute, infoRoutes, listRoute } from './info.ts';
import type { HubServingDeps } from './repository.ts';
import { treeRoutes } from './tree.ts';

/**
 * What clients of the hub ask: repositories of datasets, read only. Each path begins with `svc/`; a second route, which is
 * not documented, has the path without it.
 */
export function hubServingRoutes(deps: HubServingDeps): {
  readonly documented: readonly Route[];
  readonly others: readonly Route[];
} {
  const ofRepository = [...infoRoutes(deps), ...treeRoutes(deps), ...historyRoutes(deps), fileRoute(deps)];
  const documented = [listRoute(deps), callerRoute(), ...ofRepository];
  // A revision itself is no file, as the same error says.
  const revision = { ...fileRoute(deps), path: '/datasets/svc/{repo}/resolve/{revision}' };
  const unprefixed = [...ofRepository, revision].map((route) => {
    return { ...route, path: route.path.replace('/svc/{repo}', '/{repo}') };
  });
  const others = [revision, ...unprefixed];
  return { documented, others };
}
