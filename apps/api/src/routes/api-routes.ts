import { healthRoutes, type Route } from '@svc/service';
import { consoleRoutes } from './console.ts';
import { changeItemsRoute, editItemsRoute } from './datasets/change-items.ts';
import { assetRoute, exportRoute, runExportRoute } from './datasets/export.ts';
import { itemRoutes } from './datasets/items.ts';
import { datasetRoutes, resolvingDatasets, versionRoutes } from './datasets/routes.ts';
import type { RouteDeps } from './deps.ts';
import { documentationRoutes } from './docs/documentation.ts';
import { findHubDatasetsRoute, hubImportRoute, hubPreviewRoute } from './hub/import.ts';
import { DRY_RUN } from './hub/schema.ts';
import {
  callerRoute,
  fileRoute,
  historyRoutes,
  infoRoutes,
  listRoute,
  treeRoutes,
} from './hub-serving/routes.ts';
import { jobRoutes } from './jobs.ts';
import { auditRoutes, settingsRoutes, statusRoute, telemetryRoute } from './operation.ts';
import { runRoutes } from './runs/routes.ts';
import { sessionRoutes } from './session.ts';
import { uploadPreviewRoute, uploadRoute } from './uploads/upload.ts';

export function apiRoutes(deps: RouteDeps): readonly Route[] {
  const routes = [
    uploadRoute(deps),
    uploadPreviewRoute(deps),
    findHubDatasetsRoute(deps),
    hubPreviewRoute(deps),
    hubImportRoute(deps),
    ...datasetRoutes(deps),
    changeItemsRoute(deps),
    editItemsRoute(deps),
    ...versionRoutes(deps),
    ...itemRoutes(deps),
    assetRoute(deps),
    exportRoute(deps),
    ...runRoutes(deps),
    runExportRoute(deps),
    ...jobRoutes(deps),
    ...settingsRoutes(deps),
    ...auditRoutes(deps),
    statusRoute(deps),
    telemetryRoute(deps),
    ...sessionRoutes(deps),
    ...healthRoutes(deps),
  ].map((route) => resolvingDatasets(route, deps.store.datasets));
  const hubServing = hubServingRoutes(deps);
  const others = [...dryRunRoutes(routes), ...hubServing.documented, ...consoleRoutes(deps.console)];
  const documented = [...withoutDryRuns(routes), ...others];
  return [
    ...routes,
    ...others,
    ...hubServing.others,
    ...documentationRoutes(documented, deps.version, deps.console),
  ];
}

const PLANNED = { description: 'the result of a dry run', schema: DRY_RUN } as const;

/** Paths of the dry runs, by the `operationId` of what they try. */
const DRY_RUNS: Readonly<
  Record<
    string,
    Pick<Route, 'path' | 'operationId' | 'summary'> & { readonly planned?: Route['responses'][number] }
  >
> = {
  createRun: {
    path: '/runs/plan',
    operationId: 'planRun',
    summary: 'Plan a run and list its warnings without starting it. The same as `POST /runs?dry_run=true`',
  },
  uploadDataset: {
    path: '/datasets/upload/check',
    operationId: 'checkUpload',
    summary:
      'Convert every row of an upload and store nothing. The same as `POST /datasets/upload?dry_run=true`',
    planned: PLANNED,
  },
  changeItems: {
    path: '/datasets/{id}/items/check',
    operationId: 'checkChange',
    summary: 'Compare a change and store nothing. The same as `POST /datasets/{id}/items?dry_run=true`',
    planned: PLANNED,
  },
  editItems: {
    path: '/datasets/{id}/items/check',
    operationId: 'checkEdit',
    summary: 'Compare an edit and store nothing. The same as `PATCH /datasets/{id}/items?dry_run=true`',
    planned: PLANNED,
  },
  importHubDataset: {
    path: '/datasets/hub/check',
    operationId: 'checkHubImport',
    summary:
      'Convert every row of an import and store nothing. The same as `POST /datasets/hub/import?dry_run=true`',
    planned: PLANNED,
  },
};

/**
 * The dry runs as separate operations. One operation has then one kind of result, which generated clients need: OpenAPI
 * cannot tell what `dry_run=true` changes.
 */
function dryRunRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.flatMap((route) => {
    const own = DRY_RUNS[route.operationId];
    if (own === undefined) return [];
    const { planned: ofDryRun, ...operation } = own;
    const { query, headers = {}, responses, ...rest } = route;
    const planned = ofDryRun ?? responses[200];
    if (planned === undefined) throw new Error(`${route.operationId} has no dry run.`);
    const handle: Route['handle'] = (request) =>
      route.handle({ ...request, query: { ...request.query, dry_run: true } });
    const errors = [...(route.errors ?? []), ...('If-Match' in headers ? ['version_changed'] : [])];
    return [
      { ...rest, ...operation, query: withoutTrials(query), responses: { 200: planned }, errors, handle },
    ];
  });
}

/** The routes for the document, where dry runs are the operations of {@link dryRunRoutes} only. */
function withoutDryRuns(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => {
    const own = DRY_RUNS[route.operationId];
    if (own === undefined) return route;
    const responses = own.planned === undefined ? omit(route.responses, '200') : route.responses;
    return { ...route, query: withoutTrials(route.query), responses };
  });
}

function withoutTrials(query: Route['query']): NonNullable<Route['query']> {
  return omit(omit(query, 'dry_run'), 'try');
}

function omit<T>(members: Readonly<Record<string, T>> = {}, name: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
}

/**
 * What clients of the hub ask: repositories of datasets, read only. Each path begins with `svc/`; a second route, which is
 * not documented, has the path without it.
 */
function hubServingRoutes(deps: RouteDeps) {
  const ofRepository = [...infoRoutes(deps), ...treeRoutes(deps), ...historyRoutes(deps), fileRoute(deps)];
  const documented = [listRoute(deps), callerRoute(), ...ofRepository];
  // A revision itself is no file, as the same error says.
  const revision = { ...fileRoute(deps), path: '/datasets/svc/{repo}/resolve/{revision}' };
  const unprefixed = [...ofRepository, revision].map((route) => {
    return { ...route, path: route.path.replace('/svc/{repo}', '/{repo}') };
  });
  return { documented, others: [revision, ...unprefixed] };
}
