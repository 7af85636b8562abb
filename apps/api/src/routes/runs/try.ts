import { PUBLIC_RESULT_FIELDS, RESULT_FIELDS } from '@svc/jsonl-v23/internal';
import {
  type JsonBody,
  JsonText,
  json,
  type Logger,
  type Route,
  type RouteResponse,
  type Schema,
  shape,
} from '@svc/service';
import { type TriedItem, type TryRunDeps, type TryRunRequest, tryRun } from '@svc/service/flows';
import type { StoredResult } from '@svc/store';
import { askedBy } from '../../http/request-headers.ts';
import { COUNT, fieldBody, fieldSchema, ITEM_ID, TEXT } from '../docs/members.ts';

const MAX_ITEMS = 20;

export const TRY_ITEMS: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_ITEMS,
  description: 'number of items to ask immediately; returns the requests and outputs, and keeps nothing',
};

/** The fields of a result that a tried item has. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['output', 'reasoning', 'error', 'finish_reason', 'usage', 'latency_ms'],
]);
const FIELDS = PUBLIC_RESULT_FIELDS.filter(({ wire }) => SHOWN.has(wire));

/** The answer to a tried run. */
const TRIED: Schema = shape({
  data: {
    type: 'array',
    items: shape({
      section: TEXT,
      order_index: COUNT,
      item_id: ITEM_ID,
      request: {
        type: ['object', 'null'],
        description: 'the body that the model was sent, with links to files; null if no model was asked',
      },
      ...Object.fromEntries(FIELDS.map((field) => [field.wire, fieldSchema(field)])),
      scores: {
        ...fieldSchema(RESULT_FIELDS.scores),
        type: 'object',
        description: 'by the name of the scorer; `main` for a configuration without `scorers`',
      },
    }),
  },
});

/** The answer to a tried run. */
export async function triedResponse(
  request: Omit<TryRunRequest, 'requestId' | 'createdBy'>,
  { store, checks, logger }: TryRunDeps & { readonly logger: Pick<Logger, 'log'> },
): Promise<RouteResponse> {
  const startMs = performance.now();
  const tried = await tryRun({ store, checks }, { ...request, ...askedBy() });
  logger.log('run.try', {
    dataset_id: request.datasetId,
    item_count: tried.length,
    provider: request.config.provider.type,
    duration_ms: Math.round(performance.now() - startMs),
  });
  return json({ data: tried.map(serializeTried) });
}

/** `POST /runs/try`: the same as `POST /runs?try=`, as a separate operation, see `dryRunRoutes`. */
export function tryRunRoute(createRun: Route): Route {
  const { headers: _, ...route } = createRun;
  return {
    ...route,
    path: '/runs/try',
    operationId: 'tryRun',
    summary: 'Ask some items and show requests and outputs; nothing is kept. The same as `POST /runs?try=3`',
    query: { items: { ...TRY_ITEMS, default: 3 } },
    responses: { 200: { description: 'what was asked and what came back, in item order', schema: TRIED } },
    errors: route.errors.filter(
      (code) => !['nothing_to_score', 'run_not_found', 'run_active', 'idempotency_key_reused'].includes(code),
    ),
    handle: (request) => createRun.handle({ ...request, query: { try: request.query['items'] as number } }),
  };
}

function serializeTried({ item, itemId, request, result, failure }: TriedItem): JsonBody {
  const fields = FIELDS.map((field) => [field.wire, result && fieldBody(field, result[field.name])]);
  return {
    section: item.section,
    order_index: item.orderIndex,
    item_id: itemId as JsonBody,
    request: request === null ? null : new JsonText(request),
    ...Object.fromEntries(fields),
    ...(failure === null ? {} : { error: { ...failure } }),
    scores: result === null ? {} : scoresOf(result),
  };
}

function scoresOf({ scores, score, passed, explanation, scoredBy }: StoredResult): JsonBody {
  if (scores !== null) return new JsonText(scores);
  if (score === null) return {};
  const said = explanation === null ? null : new JsonText(explanation);
  return { main: { score, passed, explanation: said, scored_by: scoredBy } };
}
