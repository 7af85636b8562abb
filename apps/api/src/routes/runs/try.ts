import { type TriedItem, type TryRunDeps, type TryRunRequest, tryRun } from '@svc/flows';
import type { Logger } from '@svc/instrumentation';
import { currentContext } from '@svc/observability';
import {
  type JsonBody,
  JsonText,
  json,
  type Route,
  type RouteResponse,
  type Schema,
  shape,
} from '@svc/runtime';

const MAX_ITEMS = 20;

export const TRY_ITEMS: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_ITEMS,
  description: 'ask so many items immediately, answer with the requests and outputs, and store nothing',
};

const FAILURE: Schema = { type: ['object', 'null'], description: 'why there is no output, or no score' };

/** The answer to a tried run. */
const TRIED: Schema = shape({
  data: {
    type: 'array',
    items: shape({
      section: { type: 'string' },
      order_index: { type: 'integer', minimum: 0 },
      item_id: { type: ['string', 'integer', 'null'] },
      request: {
        type: ['object', 'null'],
        description: 'the body that the model was sent, with links to files; null if no model was asked',
      },
      output: { description: 'the output of the provider; null without one' },
      error: FAILURE,
      finish_reason: { type: ['string', 'null'] },
      usage: { type: ['object', 'null'] },
      latency_ms: { type: ['number', 'null'] },
      scores: {
        type: 'object',
        additionalProperties: shape({
          score: { type: ['number', 'null'] },
          passed: { type: ['boolean', 'null'] },
          explanation: { type: ['string', 'null'] },
        }),
        description: 'by the name of the scorer; `main` is that of the configuration',
      },
    }),
  },
});

/** The answer to a tried run. */
export async function triedResponse(
  request: Omit<TryRunRequest, 'requestId'>,
  { store, checks, logger }: TryRunDeps & { readonly logger: Pick<Logger, 'log'> },
): Promise<RouteResponse> {
  const startMs = performance.now();
  const requestId = currentContext().request_id ?? null;
  const tried = await tryRun({ store, checks }, { ...request, requestId });
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
    summary:
      'Ask some items and show requests and outputs; nothing is stored. The same as `POST /runs?try=3`',
    query: { items: { ...TRY_ITEMS, default: 3 } },
    responses: { 200: { description: 'what was asked and what came back, in item order', schema: TRIED } },
    errors: route.errors.filter(
      (code) => !['nothing_to_score', 'run_not_found', 'run_active', 'idempotency_key_reused'].includes(code),
    ),
    handle: (request) => createRun.handle({ ...request, query: { try: request.query['items'] as number } }),
  };
}

function serializeTried({ item, itemId, request, result, failure }: TriedItem): JsonBody {
  const texts = (text: string | null | undefined): JsonBody => (text == null ? null : new JsonText(text));
  const { score = null, passed = null } = result ?? {};
  return {
    section: item.section,
    order_index: item.orderIndex,
    item_id: itemId as JsonBody,
    request: texts(request),
    output: texts(result?.output),
    error: failure === null ? texts(result?.error) : { ...failure },
    finish_reason: result?.finishReason ?? null,
    usage: texts(result?.usage),
    latency_ms: result?.latencyMs ?? null,
    scores: score === null ? {} : { main: { score, passed, explanation: texts(result?.explanation) } },
  };
}
