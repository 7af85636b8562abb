import { spellingsOf } from '@svc/jsonl-v23/secrets';
import { runWithContext } from '@svc/observability';
import { linesToBytes } from '@svc/pkg-format';
import {
  bodyChunks,
  type Caller,
  forbidden,
  json,
  jsonBody,
  ok,
  RequestError,
  type Route,
  type RouteResponse,
  type Schema,
  shape,
  stream,
  watchUploadRate,
} from '@svc/service';
import { createYielder, type Semaphore } from '@svc/service/concurrency';
import { parseStoredRunConfig, promptsOf, RunError, rebuildMessages } from '@svc/service/evaluation';
import { linkOf, MAX_REJECTED, type PushOutcome, pushResults, pushScores } from '@svc/service/flows';
import { type PendingResult, type PendingResults, readStoredJson } from '@svc/service/store';
import type { Request } from 'express';
import { LINES_TYPES } from '../../http/receive-upload.ts';
import { linkedItemText } from '../datasets/items.ts';
import type { RouteDeps } from '../deps.ts';
import { COUNT, POSITIVE, TEXT } from '../docs/schemas.ts';
import { idOf, RUN_CHANGE, RUN_READ } from './run-queries.ts';

const MAX_CLAIMS = 10_000;

/** Agents read the lines: without it, none sees the reference answers. */
const ANSWERS = {
  type: 'boolean',
  default: false,
  description: 'whether items have their `answer`, which takes the role editor',
} as const;

export function pendingRoutes(deps: RouteDeps): readonly Route[] {
  const { runs } = deps.store;
  const lines = {
    produces: 'application/jsonl',
    streams: 'data',
    responses: ok(
      'JSON Lines of `section`, `order_index`, `repetition`, `item_id`, `item_hash`, `item` with links to its files, `request` where the configuration has a `prompt_template` or `system_prompt`: the `messages` to ask, with links to files, or null if the item makes none; and `claimed_until` of claimed ones',
      { type: 'string' },
    ),
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
      errors: ['run_not_external', 'run_finished', 'forbidden'],
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
      errors: ['run_not_external', 'run_finished'],
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

/** The longest line: a longer output could not be checked. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

const PUSHED: Schema = shape({
  accepted: { ...COUNT, description: 'lines that were stored' },
  replaced: { ...COUNT, description: 'accepted lines that replaced another one' },
  redacted: { ...COUNT, description: 'keys of the service that were replaced in what was stored' },
  rejected: {
    type: 'array',
    maxItems: MAX_REJECTED,
    items: shape({ line: POSITIVE, message: TEXT }),
    description: `the first ${MAX_REJECTED} lines that were not stored`,
  },
  rejected_total: { ...COUNT, description: 'number of lines that were not stored' },
});

export function pushRoutes(deps: RouteDeps): readonly Route[] {
  return [resultsRoute(deps), scoresRoute(deps)];
}

function resultsRoute(deps: RouteDeps): Route {
  const { store, metrics } = deps;
  return linesRoute(deps, {
    path: '/runs/{id}/results',
    operationId: 'pushResults',
    summary: 'Store results that were made elsewhere, one per line',
    errors: ['run_not_external', 'run_finished', 'too_many_scorers'],
    event: 'run.results',
    async push(id, chunks, options) {
      const session = await store.runs.push(id, options.signal);
      const onStored = (status: Parameters<typeof metrics.recordRunItem>[0]): void =>
        metrics.recordRunItem(status);
      return await pushResults(
        chunks,
        { session, reader: deps.reader, checks: deps.pushChecks, onStored },
        options,
      );
    },
  });
}

function scoresRoute(deps: RouteDeps): Route {
  const { runs } = deps.store;
  return linesRoute(deps, {
    path: '/runs/{id}/scores',
    operationId: 'pushScores',
    summary:
      'Add scores that were made elsewhere to the results of a run that has ended, one result per line',
    errors: ['run_active', 'scorer_exists', 'too_many_scorers'],
    event: 'run.scores',
    async push(id, chunks, options) {
      const session = await runs.pushScores(id, options.signal);
      const pushed = await pushScores(
        chunks,
        { session, reader: deps.reader, checks: deps.pushChecks },
        options,
      );
      // So that lists show the scores.
      await runs.summarize(id, options.signal);
      return pushed;
    },
  });
}

function linesRoute(
  { config, logger, pushes, longLines, secrets }: RouteDeps,
  route: Pick<Route, 'path' | 'operationId' | 'summary' | 'errors'> & {
    readonly event: 'run.results' | 'run.scores';
    readonly push: (
      id: string,
      chunks: AsyncIterable<Uint8Array>,
      options: Parameters<typeof pushResults>[2],
    ) => Promise<PushOutcome>;
  },
): Route {
  const known = spellingsOf(secrets);
  const { push, event, ...described } = route;
  return {
    ...described,
    ...RUN_CHANGE,
    body: { contentType: 'application/jsonl', schema: { type: 'string', description: 'JSON Lines' } },
    responses: ok('the outcome of the lines', PUSHED),
    errors: [...(route.errors ?? []), 'upload_too_large', 'unsupported_media_type'],
    handle: async ({ params, raw, client, signal }) => {
      if (!raw.is([...LINES_TYPES])) {
        const type = JSON.stringify(raw.get('content-type') ?? 'nothing');
        throw new RequestError('unsupported_media_type', `The body must be application/jsonl, got ${type}.`);
      }
      // Until a permit is free, the body is paused.
      raw.pause();
      using _permit = await pushes.acquire(signal, { client });
      using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
      let bytes = 0;
      const onBytes = (count: number): void => {
        bytes += count;
        if (bytes > config.maxUploadBytes) throw tooLarge(config.maxUploadBytes);
      };
      using body = readLineChunks(raw, longLines, client, onBytes, arriving.signal);
      const id = idOf(params);
      const { accepted, replaced, redacted, rejected, rejectedTotal } = await push(id, body.chunks, {
        maxLineBytes: Math.min(config.maxLineBytes, MAX_LINE_BYTES),
        maxDepth: config.maxJsonDepth,
        secrets: known,
        signal: arriving.signal,
      });
      runWithContext({ run_id: id.toLowerCase() }, () =>
        logger.log(event, { accepted, replaced, rejected: rejectedTotal }),
      );
      return json({
        ...{ accepted, replaced, redacted, rejected_total: rejectedTotal },
        rejected: rejected.map((line) => ({ ...line })),
      });
    },
  };
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError('upload_too_large', `The body must have at most ${maxBytes} bytes.`);
}

/** Bytes of a line that any request may hold. */
const SHORT_LINE_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/** A request whose line gets long waits for a permit before it reads on, so that few long lines are in memory. */
function readLineChunks(
  request: Request,
  longLines: Semaphore,
  client: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
) {
  let permit: Disposable | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let lineBytes = 0;
    for await (const chunk of bodyChunks(request, signal)) {
      onBytes(chunk.byteLength);
      const lineFeed = chunk.lastIndexOf(LINE_FEED);
      lineBytes = lineFeed === -1 ? lineBytes + chunk.byteLength : chunk.byteLength - lineFeed - 1;
      if (lineBytes > SHORT_LINE_BYTES) permit ??= await longLines.acquire(signal, { client });
      yield chunk;
      // The line that ended in the chunk has been stored.
      if (lineFeed === -1 || lineBytes > SHORT_LINE_BYTES) continue;
      permit?.[Symbol.dispose]();
      permit = undefined;
    }
  }
  return { chunks: chunks(), [Symbol.dispose]: () => permit?.[Symbol.dispose]() };
}
