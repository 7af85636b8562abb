import type { Route } from '../http/route.ts';
import { type DatasetDeps, datasetRoutes } from './datasets.ts';
import { documentationRoutes } from './documentation.ts';
import { type ExportDeps, exportRoute } from './export.ts';
import { type HubDeps, hubRoutes } from './hub.ts';
import { type JobDeps, jobRoutes } from './jobs.ts';
import { type OperationDeps, operationRoutes } from './operation.ts';
import { type RunDeps, runRoutes } from './runs.ts';
import { settingsRoutes } from './settings.ts';
import { telemetryRoute } from './telemetry.ts';
import { type UploadDeps, uploadRoute } from './upload.ts';

export type RouteDeps = DatasetDeps &
  ExportDeps &
  HubDeps &
  JobDeps &
  OperationDeps &
  RunDeps &
  UploadDeps &
  Parameters<typeof settingsRoutes>[0] & { readonly version: string };

/** Every endpoint of the API. What stands first wins where two paths match. */
export function apiRoutes(deps: RouteDeps): readonly Route[] {
  const routes = [
    uploadRoute(deps),
    ...hubRoutes(deps),
    ...datasetRoutes(deps),
    exportRoute(deps),
    ...runRoutes(deps),
    ...jobRoutes(deps),
    ...settingsRoutes(deps),
    telemetryRoute(deps),
    ...operationRoutes(deps),
  ];
  return [...routes, ...documentationRoutes(routes, deps.version)];
}
