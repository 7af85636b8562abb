import { JsonText, json, type Route, type RouteRequest, type Schema } from '@svc/service';
import { type CompareRequest, PAIR_BY, type PairBy } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { PLACED_PAGE_QUERY } from '../docs/schemas.ts';
import { pageOf, toPage } from '../page.ts';
import { idOf, RUN_READ } from './path-params.ts';
import { COMPARED, COMPARED_SLICES, COMPARISON, DIFFERENCE, SCORER_QUERY } from './score-schemas.ts';

const SCORED_PAIRS: Readonly<Record<string, Schema>> = {
  scorer: SCORER_QUERY,
  pair_by: {
    type: 'string',
    enum: PAIR_BY,
    default: 'hash',
    description: 'how items of both runs are paired; items with equal values are paired in order',
  },
  cluster_by: {
    type: 'string',
    maxLength: 1024,
    pattern: '^(?:none|/(?:[^~]|~[01])*)$',
    'x-rule': 'must be a JSON Pointer such as /meta/passage, or none',
    description: 'cluster standard errors by this value; by default as both runs are configured',
  },
};

const pairsOf = (query: RouteRequest['query']): Pick<CompareRequest, 'pairBy' | 'scorer' | 'clusterBy'> => ({
  pairBy: query['pair_by'] as PairBy,
  scorer: query['scorer'] as string | undefined,
  clusterBy: query['cluster_by'] as string | undefined,
});

/** `GET /runs/{id}/compare/{other_id}` */
export function compareRunsRoute({ store: { runs } }: RouteDeps): Route {
  return {
    ...RUN_READ,
    path: '/runs/{id}/compare/{other_id}',
    operationId: 'compareRuns',
    summary: 'Compare another run with this one, over the items that both have scored',
    query: {
      ...PLACED_PAGE_QUERY,
      only: {
        type: 'string',
        enum: ['regressions', 'improvements', 'changed_output'],
        description: 'list only items with a lower score, a higher score, or another output in the other run',
      },
      ...SCORED_PAIRS,
    },
    responses: {
      200: {
        description: 'the comparison, and a page of the items in which the runs differ',
        schema: COMPARISON,
      },
    },
    errors: ['run_not_found', 'invalid_cursor', 'scorer_not_found', 'unavailable'],
    handle: async ({ params, query, signal }) => {
      const found = await runs.compare(idOf(params), params['other_id'] ?? '', {
        ...pageOf(query),
        only: query['only'] as CompareRequest['only'],
        ...pairsOf(query),
        signal,
      });
      return json({
        ...found.scores,
        ...COMPARED.toBody(found),
        ...toPage(found, query, (item) =>
          DIFFERENCE.toBody({ ...item, difference: item.otherScore - item.score }),
        ),
      });
    },
  };
}

/** `GET /runs/{id}/compare/{other_id}/slices` */
export function compareSlicesRoute({ store: { runs } }: RouteDeps): Route {
  return {
    ...RUN_READ,
    path: '/runs/{id}/compare/{other_id}/slices',
    operationId: 'compareRunSlices',
    summary: 'Compare another run with this one by slices of the items that both have scored',
    query: {
      by: {
        type: 'string',
        maxLength: 1024,
        pattern: '^(?:tag|/(?:[^~]|~[01])*)$',
        'x-rule': 'must be tag, or a JSON Pointer such as /meta/level',
        description:
          '`tag`, the default, or a JSON Pointer into the items of this run, of at most 50 values; of tags the first 50',
      },
      ...SCORED_PAIRS,
    },
    responses: {
      200: { description: 'the slices, those with most pairs first', schema: COMPARED_SLICES },
    },
    errors: ['run_not_found', 'scorer_not_found', 'unavailable'],
    handle: async ({ params, query, signal }) => {
      const slices = await runs.compareSlices(idOf(params), params['other_id'] ?? '', {
        by: (query['by'] as string | undefined) ?? 'tag',
        ...pairsOf(query),
        signal,
      });
      return json({
        data: slices.map(({ value, scores }) => ({ values: [new JsonText(value)], ...scores })),
      });
    },
  };
}
