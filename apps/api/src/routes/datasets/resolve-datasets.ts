import type { Route, RouteRequest, Schema } from '@svc/service';
import type { Store } from '@svc/store';

/** The query of routes that read a version of a dataset. */
export const VERSION: Readonly<Record<'version', Schema>> = {
  version: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description:
      'the version to read: its number, or at least 8 digits of its hash; by default that of the cursor, else the newest',
  },
};

/** Parameters of paths that name datasets, and those of queries that name their versions. */
const NAMES: readonly (readonly [dataset: string, version: string])[] = [
  ['id', 'version'],
  ['other_id', 'other_version'],
];

/**
 * Lets callers name the datasets of a path by id or handle, and their versions by number or hash. Its handler gets ids, and
 * the numbers of versions.
 */
export function resolvingDatasets(route: Route, datasets: Pick<Store['datasets'], 'resolve'>): Route {
  if (!route.path.startsWith('/datasets/{id}')) return route;
  const names = NAMES.filter(([dataset]) => route.path.includes(`{${dataset}}`));
  const errors = route.query?.['version'] === undefined ? [] : ['version_not_found', 'ambiguous_version'];
  return {
    ...route,
    errors: [...route.errors, ...errors],
    async handle(request) {
      const params: Record<string, string> = { ...request.params };
      const query: Record<string, RouteRequest['query'][string]> = { ...request.query };
      for (const [dataset, version] of names) {
        const named = query[version] as string | undefined;
        const found = await datasets.resolve(params[dataset] ?? '', named, request.signal);
        params[dataset] = found.id;
        query[version] = found.version ?? undefined;
      }
      return await route.handle({ ...request, params, query });
    },
  };
}
