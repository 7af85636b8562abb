import type { Route } from '../http/route.ts';
import { type DatasetDeps, datasetRoutes } from './datasets.ts';
import { documentationRoutes } from './documentation.ts';
import { type OperationDeps, operationRoutes } from './operation.ts';
import { type UploadDeps, uploadRoute } from './upload.ts';

export type RouteDeps = DatasetDeps & OperationDeps & UploadDeps & { readonly version: string };

/** Every endpoint of the API. What stands first wins where two paths match. */
export function apiRoutes(deps: RouteDeps): readonly Route[] {
  const routes = [uploadRoute(deps), ...datasetRoutes(deps), ...operationRoutes(deps)];
  return [...routes, ...documentationRoutes(routes, deps.version)];
}
