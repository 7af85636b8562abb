import { createYielder, type Semaphore } from '@svc/concurrency';
import {
  type CheckRunner,
  parseStoredRunConfig,
  promptsOf,
  RunError,
  rebuildMessages,
  scorersOf,
} from '@svc/evaluation';
import {
  linkOf,
  MAX_REJECTED,
  type PushOutcome,
  pushResults,
  pushScores,
  type ResultReader,
} from '@svc/flows';
import type { Metrics } from '@svc/instrumentation';
import { spellingsOf } from '@svc/jsonl-v23/internal';
import { runWithContext } from '@svc/observability';
import { linesToBytes } from '@svc/pkg-format/internal';
import {
  type Config,
  json,
  RequestError,
  type Route,
  type RouteResponse,
  type Schema,
  shape,
  stream,
  watchUploadRate,
} from '@svc/runtime';
import { type PendingResult, type PendingResults, type Run, readStoredJson } from '@svc/store';
import { readLineChunks } from '../../http/body-chunks.ts';
import { LINES_TYPES } from '../../http/receive-upload.ts';
import { linkedItemText } from '../datasets/linked-item.ts';
import type { CreateRunDeps } from './create.ts';
import { RUN, serializeRun } from './serialize.ts';

export interface OutsideDeps extends CreateRunDeps {
  readonly config: Config;
  readonly metrics: Pick<Metrics, 'recordRun' | 'recordRunItem'>;
  /** Reads lines on threads. */
  readonly results: Pick<ResultReader, 'readPushed'>;
  /** Scores outputs that clients send, apart from what requests wait for. */
  readonly pushChecks: CheckRunner;
  /** Bounds requests that send results, and the long lines in memory. */
  readonly pushes: Semaphore;
  readonly longLines: Semaphore;
}

/** The longest line: a longer output could not be checked. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_CLAIMS = 10_000;
const COUNT: Schema = { type: 'integer', minimum: 0 };

const PUSHED: Schema = shape({
  accepted: { ...COUNT, description: 'lines that were stored' },
  replaced: { ...COUNT, description: 'those of them that took the place of another one' },
  rejected: {
    type: 'array',
    maxItems: MAX_REJECTED,
    items: shape({ line: { type: 'integer', minimum: 1 }, message: { type: 'string' } }),
    description: `the first ${MAX_REJECTED} lines that were not stored`,
  },
  rejected_total: { ...COUNT, description: 'how many there are' },
});

/** The endpoints of runs whose results clients send. */
export function outsideRoutes(deps: OutsideDeps): readonly Route[] {
  const { runs } = deps.store;
  const common = { tag: 'runs' } as const;
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
      ...common,
      ...lines,
      method: 'get',
      path: '/runs/{id}/pending',
      operationId: 'listPendingResults',
      summary: 'The results that a run lacks and clients are to send, each with its item',
      access: 'viewer',
      query: {
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 2_147_483_647,
          description: 'lines at most; all by default',
        },
      },
      errors: ['run_not_found', 'run_not_external', 'unavailable'],
      handle: async ({ params, query, signal }) => {
        const limit = (query['limit'] as number | undefined) ?? Number.MAX_SAFE_INTEGER;
        return pendingResponse(deps, await runs.readPending(params['id'] ?? '', { limit, signal }), signal);
      },
    },
    {
      ...common,
      ...lines,
      method: 'post',
      path: '/runs/{id}/pending',
      operationId: 'claimPendingResults',
      summary: 'The same of results that no other client has claimed, reserved for this client',
      access: 'editor',
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: {
            limit: {
              type: 'integer',
              minimum: 1,
              maximum: MAX_CLAIMS,
              default: 100,
              description: 'results to claim at most',
            },
            claim_seconds: {
              type: 'integer',
              minimum: 1,
              maximum: 86_400,
              default: 600,
              description: 'how long the claim lasts; each result of these items extends the rest of it',
            },
          },
          additionalProperties: false,
        },
      },
      errors: [
        ...['invalid_json', 'body_too_large', 'unsupported_media_type'],
        ...['run_not_found', 'run_not_external', 'run_finished', 'unavailable'],
      ],
      handle: async ({ params, body, signal }) => {
        const found = await runs.claimPending(params['id'] ?? '', {
          limit: body?.['limit'] as number,
          claimSeconds: body?.['claim_seconds'] as number,
          signal,
        });
        return pendingResponse(deps, found, signal);
      },
    },
    pushRoute(deps),
    scoresRoute(deps),
    {
      ...common,
      method: 'post',
      path: '/runs/{id}/finish',
      operationId: 'finishRun',
      summary: 'End a run whose results clients have sent; if it has judges, a worker asks them first',
      access: 'editor',
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: {
            allow_missing: {
              type: 'boolean',
              default: false,
              description: 'whether to end it although results are missing',
            },
          },
          additionalProperties: false,
        },
      },
      produces: 'application/json',
      responses: { 200: { description: 'the run', schema: RUN } },
      errors: [
        ...['invalid_json', 'body_too_large', 'unsupported_media_type', 'run_not_found'],
        ...['run_not_external', 'run_finished', 'run_incomplete', 'unavailable'],
      ],
      handle: async ({ params, body }) => {
        const id = params['id'] ?? '';
        const before = await runs.get(id);
        const judges = judgeNames(before);
        const run = await runs.finish(id, { allowMissing: body?.['allow_missing'] === true, judges });
        if (before.finishedAt === null && run.finishedAt !== null) {
          deps.metrics.recordRun('completed');
          runWithContext({ run_id: run.id }, () =>
            deps.logger.log('run.finish', { missing: run.resultsLeft, item_count: run.counts.done }),
          );
        }
        return json(serializeRun(run));
      },
    },
  ];
}

/** Names of the scorers of a run that are judges. */
const judgeNames = ({ config }: Run): readonly string[] =>
  scorersOf(parseStoredRunConfig(readStoredJson(config))).flatMap(({ name, judge }) =>
    judge === null ? [] : [name],
  );

/** `POST /runs/{id}/results` */
function pushRoute(deps: OutsideDeps): Route {
  const { store, metrics } = deps;
  return linesRoute(deps, {
    path: '/runs/{id}/results',
    operationId: 'pushResults',
    summary: 'Store results that were made elsewhere: a line for each',
    errors: ['run_not_found', 'run_not_external', 'run_finished', 'too_many_scorers'],
    event: 'run.results',
    async push(id, chunks, options) {
      const session = await store.runs.push(id, options.signal);
      const onStored = (status: Parameters<typeof metrics.recordRunItem>[0]): void =>
        metrics.recordRunItem(status);
      return await pushResults(
        chunks,
        { session, reader: deps.results, checks: deps.pushChecks, onStored },
        options,
      );
    },
  });
}

/** `POST /runs/{id}/scores` */
function scoresRoute(deps: OutsideDeps): Route {
  const { runs } = deps.store;
  return linesRoute(deps, {
    path: '/runs/{id}/scores',
    operationId: 'pushScores',
    summary: 'Add scores that were made elsewhere to the results of a run that has ended: a line for each',
    errors: ['run_not_found', 'run_active', 'scorer_exists', 'too_many_scorers'],
    event: 'run.scores',
    async push(id, chunks, options) {
      const session = await runs.pushScores(id, options.signal);
      const pushed = await pushScores(chunks, { session, reader: deps.results }, options);
      // So that lists show the scores.
      await runs.summarize(id, options.signal);
      return pushed;
    },
  });
}

/** A route that takes lines: reads them as fast as they are stored, and says what became of them. */
function linesRoute(
  { config, logger, pushes, longLines, secrets }: OutsideDeps,
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
    method: 'post',
    tag: 'runs',
    access: 'editor',
    body: { contentType: 'application/jsonl', schema: { type: 'string', description: 'JSON Lines' } },
    produces: 'application/json',
    responses: { 200: { description: 'the outcome of the lines', schema: PUSHED } },
    errors: [...route.errors, 'upload_too_large', 'unsupported_media_type', 'unavailable'],
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
      using body = readLineChunks(raw, longLines, onBytes, arriving.signal);
      const id = params['id'] ?? '';
      const { accepted, replaced, rejected, rejectedTotal } = await push(id, body.chunks, {
        maxLineBytes: Math.min(config.maxLineBytes, MAX_LINE_BYTES),
        maxDepth: config.maxJsonDepth,
        secrets: known,
        signal: arriving.signal,
      });
      runWithContext({ run_id: id.toLowerCase() }, () =>
        logger.log(event, { accepted, replaced, rejected: rejectedTotal }),
      );
      return json({
        ...{ accepted, replaced, rejected_total: rejectedTotal },
        rejected: rejected.map((line) => ({ ...line })),
      });
    },
  };
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError('upload_too_large', `The body must have at most ${maxBytes} bytes.`);
}

function pendingResponse(
  { pushChecks: checks }: Pick<OutsideDeps, 'pushChecks'>,
  { run, results }: PendingResults,
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
      yield [pendingLine(result, run, hasPrompts ? await requestOf(result.item) : undefined)];
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
