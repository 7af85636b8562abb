import { type HealthDeps, healthRoutes, type Route } from '@svc/service';
import { auditRoutes } from './audit.ts';
import type { ConsoleFiles } from './console/console-files.ts';
import { consoleRoutes } from './console/console-routes.ts';
import { changeItemsRoute } from './datasets/change-items.ts';
import { type EditDeps, editItemsRoute } from './datasets/edit-items.ts';
import {
  type AssetDeps,
  assetRoute,
  type ExportDeps,
  exportRoute,
  runExportRoute,
} from './datasets/export.ts';
import { itemRoutes, itemTableRoutes } from './datasets/items.ts';
import { resolvingDatasets } from './datasets/resolve-datasets.ts';
import { datasetRoutes } from './datasets/routes.ts';
import { type VersionDeps, versionRoutes } from './datasets/versions.ts';
import { documentationRoutes } from './docs/documentation.ts';
import { dryRunRoutes, withoutDryRuns } from './dry-runs.ts';
import { type HubImportDeps, hubImportRoute } from './hub/import.ts';
import { findHubDatasetsRoute, hubPreviewRoute } from './hub/preview.ts';
import type { HubServingDeps } from './hub-serving/repository.ts';
import { hubServingRoutes } from './hub-serving/routes.ts';
import { type JobDeps, jobRoutes } from './jobs/routes.ts';
import { type RunDeps, resultTableRoutes, runRoutes } from './runs/routes.ts';
import { sessionRoutes } from './session.ts';
import { settingsRoutes } from './settings.ts';
import { type StatusDeps, statusRoute } from './status/status.ts';
import { telemetryRoute } from './telemetry.ts';
import { uploadPreviewRoute } from './uploads/preview.ts';
import { type UploadDeps, uploadRoute } from './uploads/upload.ts';

export type RouteDeps = AssetDeps &
  VersionDeps &
  EditDeps &
  ExportDeps &
  HubImportDeps &
  HubServingDeps &
  JobDeps &
  HealthDeps &
  RunDeps &
  StatusDeps &
  UploadDeps &
  Parameters<typeof settingsRoutes>[0] &
  Parameters<typeof auditRoutes>[0] &
  Parameters<typeof sessionRoutes>[0] & {
    readonly version: string;
    /** The built console; null without one. */
    readonly console: ConsoleFiles | null;
  };

/** Every endpoint of the API. The first route that matches a path wins. */
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
    ...itemTableRoutes(deps),
    assetRoute(deps),
    exportRoute(deps),
    ...runRoutes(deps),
    ...resultTableRoutes(deps),
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
