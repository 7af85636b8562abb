import { JsonText, json, type Route } from '@svc/runtime';
import type { RunDifference } from '@svc/store';
import { PAGE_QUERY } from '../docs/schemas.ts';
import { pageOf, toPage } from '../page.ts';
import type { CreateRunDeps } from './create.ts';
import { COMPARISON } from './score-schemas.ts';

/** `GET /runs/{id}/compare/{other_id}` */
export function compareRunsRoute({ store: { runs } }: Pick<CreateRunDeps, 'store'>): Route {
  return {
    method: 'get',
    path: '/runs/{id}/compare/{other_id}',
    operationId: 'compareRuns',
    summary: 'How another run differs from this one in the items that both have scored',
    tag: 'runs',
    access: 'viewer',
    query: {
      ...PAGE_QUERY,
      only: {
        type: 'string',
        enum: ['regressions', 'improvements'],
        description: 'items in which the other run is worse, or better',
      },
    },
    produces: 'application/json',
    responses: {
      200: {
        description: 'the comparison, and a page of the items in which the runs differ',
        schema: COMPARISON,
      },
    },
    errors: ['run_not_found', 'invalid_cursor', 'nothing_to_compare', 'unavailable'],
    handle: async ({ params, query, signal }) => {
      const only = query['only'] as 'regressions' | 'improvements' | undefined;
      const found = await runs.compare(params['id'] ?? '', params['other_id'] ?? '', {
        ...pageOf(query),
        only,
        signal,
      });
      return json({ ...found.scores, ...toPage(found, query, serializeDifference) });
    },
  };
}

function serializeDifference(
  item: RunDifference,
): Record<string, string | number | boolean | JsonText | null> {
  return {
    section: item.section,
    order_index: item.orderIndex,
    item_id: item.itemId === null ? null : new JsonText(item.itemId),
    item_hash: Buffer.from(item.itemHash).toString('hex'),
    other_section: item.otherSection,
    other_order_index: item.otherOrderIndex,
    score: item.score,
    other_score: item.otherScore,
    difference: item.otherScore - item.score,
    passed: item.passed,
    other_passed: item.otherPassed,
  };
}
