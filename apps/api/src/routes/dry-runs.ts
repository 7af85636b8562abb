import type { Route } from '@svc/service';
import { DRY_RUN } from './hub/schema.ts';

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
export function dryRunRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.flatMap((route) => {
    const own = DRY_RUNS[route.operationId];
    if (own === undefined) return [];
    const { planned: ofDryRun, ...operation } = own;
    const { query, headers: _headers, responses, ...rest } = route;
    const planned = ofDryRun ?? responses[200];
    if (planned === undefined) throw new Error(`${route.operationId} has no dry run.`);
    const handle: Route['handle'] = (request) =>
      route.handle({ ...request, query: { ...request.query, dry_run: true } });
    const errors = route.errors.filter((code) => code !== 'idempotency_key_reused');
    return [
      { ...rest, ...operation, query: withoutTrials(query), responses: { 200: planned }, errors, handle },
    ];
  });
}

/** The routes for the document, where dry runs are the operations of {@link dryRunRoutes} only. */
export function withoutDryRuns(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => {
    const own = DRY_RUNS[route.operationId];
    if (own === undefined) return route;
    const responses = own.planned === undefined ? omit(route.responses, '200') : route.responses;
    return { ...route, query: withoutTrials(route.query), responses };
  });
}

/** The query without the parameters that turn a request into another operation. */
function withoutTrials(query: Route['query']): NonNullable<Route['query']> {
  return omit(omit(query, 'dry_run'), 'try');
}

function omit<T>(members: Readonly<Record<string, T>> = {}, name: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
}
