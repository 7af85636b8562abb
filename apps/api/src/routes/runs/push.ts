import type { Semaphore } from '@svc/concurrency';
import { spellingsOf } from '@svc/jsonl-v23/internal';
import { runWithContext } from '@svc/observability';
import {
  bodyChunks,
  json,
  RequestError,
  type Route,
  type Schema,
  shape,
  watchUploadRate,
} from '@svc/service';
import { MAX_REJECTED, type PushOutcome, pushResults, pushScores } from '@svc/service/flows';
import type { Request } from 'express';
import { LINES_TYPES } from '../../http/receive-upload.ts';
import type { RouteDeps } from '../deps.ts';
import { COUNT, POSITIVE, TEXT } from '../docs/members.ts';
import { idOf, RUN_CHANGE } from './path-params.ts';

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

/** The endpoints that store results and scores that were made elsewhere. */
export function pushRoutes(deps: RouteDeps): readonly Route[] {
  return [resultsRoute(deps), scoresRoute(deps)];
}

/** `POST /runs/{id}/results` */
function resultsRoute(deps: RouteDeps): Route {
  const { store, metrics } = deps;
  return linesRoute(deps, {
    path: '/runs/{id}/results',
    operationId: 'pushResults',
    summary: 'Store results that were made elsewhere, one per line',
    errors: ['run_not_found', 'run_not_external', 'run_finished', 'too_many_scorers'],
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

/** `POST /runs/{id}/scores` */
function scoresRoute(deps: RouteDeps): Route {
  const { runs } = deps.store;
  return linesRoute(deps, {
    path: '/runs/{id}/scores',
    operationId: 'pushScores',
    summary:
      'Add scores that were made elsewhere to the results of a run that has ended, one result per line',
    errors: ['run_not_found', 'run_active', 'scorer_exists', 'too_many_scorers'],
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

/** A route that accepts lines: reads them as fast as they are stored, and returns the outcome. */
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

/** The chunks of a body of lines, and the permit of a long line, which is held until it is disposed of. */
interface LineChunks extends Disposable {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads a body of lines as fast as it is taken: while no chunk is taken, the client waits. A request whose line gets long
 * waits for a permit before it reads on, so that few long lines are in memory.
 *
 * @throws while it is read, the signal's reason, the error of `longLines`, and what `onBytes` throws
 */
function readLineChunks(
  request: Request,
  longLines: Semaphore,
  client: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): LineChunks {
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
