import { createYielder } from '@svc/concurrency';
import { parseStoredRunConfig, promptsOf, RunError, rebuildMessages } from '@svc/evaluation';
import { linesToBytes } from '@svc/pkg-format/internal';
import { type Caller, forbidden, jsonBody, type Route, type RouteResponse, stream } from '@svc/service';
import { linkOf } from '@svc/service/flows';
import { type PendingResult, type PendingResults, readStoredJson } from '@svc/store';
import { linkedItemText } from '../datasets/item-page.ts';
import type { RouteDeps } from '../deps.ts';
import { idOf, RUN_CHANGE, RUN_READ } from './path-params.ts';

const MAX_CLAIMS = 10_000;

/** Agents read the lines: without it, none sees the reference answers. */
const ANSWERS = {
  type: 'boolean',
  default: false,
  description: 'whether items have their `answer`, which takes the role editor',
} as const;

/** The endpoints that list and reserve the results that a run lacks. */
export function pendingRoutes(deps: RouteDeps): readonly Route[] {
  const { runs } = deps.store;
  const lines = {
    produces: 'application/jsonl',
    streams: 'data',
    responses: {
      200: {
        description:
          'JSON Lines of `section`, `order_index`, `repetition`, `item_id`, `item_hash`, `item` with links to its files, `request` where the configuration has a `prompt_template` or `system_prompt`: the `messages` to ask, with links to files, or null if the item makes none; and `claimed_until` of claimed ones',
        schema: { type: 'string' },
      },
    },
  } as const;
  return [
    {
      ...RUN_READ,
      ...lines,
      path: '/runs/{id}/pending',
      operationId: 'listPendingResults',
      summary: 'List the results that clients have not sent yet, each with its item',
      query: {
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 2_147_483_647,
          description: 'maximum number of lines; by default all',
        },
        answers: ANSWERS,
      },
      errors: ['run_not_found', 'run_not_external', 'run_finished', 'forbidden', 'unavailable'],
      handle: async ({ params, query, caller, signal }) => {
        const withAnswers = mayShowAnswers(query['answers'], caller);
        const limit = (query['limit'] as number | undefined) ?? Number.MAX_SAFE_INTEGER;
        const found = await runs.readPending(idOf(params), { limit, signal });
        return pendingResponse(deps, found, withAnswers, signal);
      },
    },
    {
      ...RUN_CHANGE,
      ...lines,
      path: '/runs/{id}/pending',
      operationId: 'claimPendingResults',
      summary: 'Reserve results that no other client has claimed, and list them with their items',
      body: jsonBody({
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_CLAIMS,
          default: 100,
          description: 'maximum number of results to claim',
        },
        claim_seconds: {
          type: 'integer',
          minimum: 1,
          maximum: 86_400,
          default: 600,
          description: 'duration of the claim; each result of these items extends the claims of the others',
        },
        answers: ANSWERS,
      }),
      errors: ['run_not_found', 'run_not_external', 'run_finished', 'unavailable'],
      handle: async ({ params, body, signal }) => {
        const found = await runs.claimPending(idOf(params), {
          limit: body['limit'] as number,
          claimSeconds: body['claim_seconds'] as number,
          signal,
        });
        return pendingResponse(deps, found, body['answers'] === true, signal);
      },
    },
  ];
}

/** @throws RequestError `forbidden` */
function mayShowAnswers(answers: unknown, caller: Caller): boolean {
  if (answers !== true) return false;
  if (!caller.can('editor')) throw forbidden(caller, 'editor');
  return true;
}

function pendingResponse(
  { pushChecks: checks }: RouteDeps,
  { run, results }: PendingResults,
  withAnswers: boolean,
  signal: AbortSignal,
): RouteResponse {
  const config = parseStoredRunConfig(readStoredJson(run.config));
  const { system, template } = promptsOf(config);
  const hasPrompts = system !== null || template !== null;
  const urlOf = linkOf(run.datasetId, run.datasetVersion);
  const yieldToEventLoop = createYielder();

  async function requestOf({ payload, answer, checker, assets, linkedFiles }: PendingItem): Promise<string> {
    if (payload === null) return 'null';
    await yieldToEventLoop();
    const item = { parts: { payload, answer, checker, assets }, linkedFiles };
    try {
      return (await rebuildMessages({ checks }, config, item, urlOf, signal)) ?? 'null';
    } catch (error) {
      // The item lacks what a prompt needs.
      if (error instanceof RunError) return 'null';
      throw error;
    }
  }
  async function* lines(): AsyncGenerator<readonly string[]> {
    for await (const result of results) {
      yield [
        pendingLine(
          withAnswers ? result : { ...result, item: { ...result.item, answer: null } },
          run,
          hasPrompts ? await requestOf(result.item) : undefined,
        ),
      ];
    }
  }
  return stream(linesToBytes(lines()), { 'Content-Type': 'application/jsonl' });
}

type PendingItem = PendingResult['item'];

/** A line of a result that a run lacks; without `item` where that is too large. */
function pendingLine(
  { item, repetition, claimedUntil }: PendingResult,
  { datasetId, datasetVersion }: PendingResults['run'],
  request: string | undefined,
): string {
  const { payload } = item;
  const members = [
    `"section":${JSON.stringify(item.section)},"order_index":${item.orderIndex},"repetition":${repetition}`,
    `"item_id":${item.itemId},"item_hash":"${Buffer.from(item.itemHash).toString('hex')}"`,
    `"item":${payload === null ? null : linkedItemText({ ...item, payload }, datasetId, datasetVersion)}`,
    ...(request === undefined ? [] : [`"request":${request}`]),
    ...(claimedUntil === null ? [] : [`"claimed_until":"${claimedUntil.toISOString()}"`]),
  ];
  return `{${members.join(',')}}`;
}
