import { invalidMember, type JsonBody, JsonText, json, type Route, type Schema, shape } from '@svc/service';
import type { RunErrorExample, RunErrorGroup, RunSlice } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { COUNT, ITEM_ID, listOf, POSITIVE, record, storedJson, TEXT } from '../docs/members.ts';

import { idOf, RUN_READ } from './path-params.ts';
import { GROUP_SCORES, SCORER_QUERY } from './score-schemas.ts';

const SLICE: Schema = shape({
  values: {
    type: 'array',
    items: {},
    description: 'in the order of `by`; null for items without the value',
  },
  ...GROUP_SCORES,
});

const ERROR_EXAMPLE = record<RunErrorExample>({
  section: TEXT,
  order_index: COUNT,
  repetition: POSITIVE,
  item_id: storedJson(ITEM_ID),
  message: { type: 'string', description: 'the original message' },
});

const ERROR_GROUP = record<RunErrorGroup>({
  group: { type: 'string', description: 'id of the group, for the parameter `error` of a list of results' },
  code: TEXT,
  message: { type: 'string', description: 'the message with `<n>` for numbers and `<id>` for identifiers' },
  count: COUNT,
  examples: listOf(ERROR_EXAMPLE, { type: 'array', maxItems: 3, items: ERROR_EXAMPLE.schema }),
});

/** `GET /runs/{id}/slices` and `/errors` */
export function runPartsRoutes({ store: { runs } }: RouteDeps): readonly Route[] {
  return [
    {
      ...RUN_READ,
      path: '/runs/{id}/slices',
      operationId: 'sliceRun',
      summary: 'The scores of a run by values of its items, such as `by=/meta/level`',
      query: {
        by: {
          type: 'array',
          minItems: 1,
          maxItems: 2,
          items: {
            type: 'string',
            maxLength: 1024,
            pattern: '^(?:section|tag|/(?:[^~]|~[01])*)$',
            'x-rule': 'must be section, tag, or a JSON Pointer such as /meta/level',
          },
          description:
            '`section`, `tag`, or a JSON Pointer into the item, each with at most 50 values; repeat the parameter for a second key. `tag` alone gives the 50 tags with most results',
        },
        scorer: SCORER_QUERY,
      },
      responses: {
        200: {
          description: 'the scores of each slice, in the order of the values',
          schema: shape({
            data: { type: 'array', items: SLICE },
            meta: shape({ by: { type: 'array', items: TEXT }, total_items: COUNT }),
          }),
        },
      },
      errors: ['run_not_found', 'scorer_not_found', 'unavailable'],
      handle: async ({ params, query, signal }) => {
        const by = query['by'] as readonly string[] | undefined;
        if (by === undefined) throw invalidMember('query', 'by', 'is missing');
        const slices = await runs.slice(idOf(params), {
          ...{ by, signal },
          scorer: query['scorer'] as string | undefined,
        });
        return json({ data: slices.map(serializeSlice), meta: { by: [...by], total_items: slices.length } });
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/errors',
      operationId: 'listRunErrors',
      summary: 'Group the errors of a run by message, largest groups first',
      responses: {
        200: {
          description: 'at most 100 groups',
          schema: shape({ data: { type: 'array', maxItems: 100, items: ERROR_GROUP.schema } }),
        },
      },
      errors: ['run_not_found', 'unavailable'],
      handle: async ({ params, signal }) => {
        const groups = await runs.errors(idOf(params), signal);
        return json({ data: groups.map(ERROR_GROUP.toBody) });
      },
    },
  ];
}

function serializeSlice({ values, scores }: RunSlice): JsonBody {
  return {
    values: values.map((value) => new JsonText(value)),
    ...(scores as unknown as Record<string, JsonBody>),
  };
}
