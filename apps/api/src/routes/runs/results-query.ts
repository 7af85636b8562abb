import { RESULT_FIELDS } from '@svc/jsonl-v23/internal';
import type { RouteRequest, Schema } from '@svc/runtime';
import type { ResultsConditions } from '@svc/store';
import { PAGE_QUERY } from '../docs/schemas.ts';

/** Query parameters that choose results. */
const RESULTS_FILTERS: Readonly<Record<string, Schema>> = {
  status: { type: 'string', enum: RESULT_FIELDS.status.values },
  passed: { type: 'boolean' },
  section: { type: 'string', description: 'of the section of this name' },
  type: { type: 'string', description: 'of items of this type' },
  tag: { type: 'string', description: 'of items with this tag' },
  finish_reason: { type: 'string', description: 'such as `stop` or `length`' },
  item_hash: {
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    'x-rule': 'must be 64 hexadecimal digits in lower case',
    description: 'of the item with this hash',
  },
  q: { type: 'string', description: 'part of the output, explanation or error, in any case' },
};

export const RESULTS_QUERY: Readonly<Record<string, Schema>> = {
  ...PAGE_QUERY,
  ...RESULTS_FILTERS,
  include: { type: 'string', enum: ['item'], description: 'each result with its item' },
};

/** The results that a query with {@link RESULTS_FILTERS} chooses. */
export function resultsConditions(query: RouteRequest['query']): ResultsConditions {
  const text = (name: string): string | undefined => query[name] as string | undefined;
  return {
    status: query['status'] as ResultsConditions['status'],
    passed: query['passed'] as boolean | undefined,
    section: text('section'),
    type: text('type'),
    tag: text('tag'),
    finishReason: text('finish_reason'),
    itemHash: text('item_hash'),
    q: text('q'),
  };
}
