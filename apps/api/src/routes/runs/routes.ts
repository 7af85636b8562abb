import { randomUUID } from 'node:crypto';
import { parseRunConfig, RUN_CONFIG_SCHEMA, type RunConfig, runConfigToJson } from '@svc/evaluation';
import { canonicalJson, getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { currentContext, type Logger, runWithContext } from '@svc/observability';
import { sanitiseRunConfig } from '@svc/pkg-format/internal';
import { json, RequestError, type Route, type RouteRequest, type Schema, toJsonText } from '@svc/runtime';
import type { Run, RunStatus, Store, StoredResponse } from '@svc/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { createWatch } from '../../http/server-sent-events.ts';
import { NAME } from '../datasets/dataset-fields.ts';
import { PAGE_QUERY, page } from '../docs/schemas.ts';
import { pageOf, pageResponse, toPage } from '../page-body.ts';
import {
  RESULT_STATUSES,
  RUN,
  RUN_RESULT,
  RUN_STATUSES,
  resultBody,
  runBody,
  runHasEnded,
} from './run-body.ts';

export interface RunDeps {
  readonly logger: Logger;
  readonly store: Pick<Store, 'runs' | 'idempotency'>;
  /** secrets known to this process, which no run may hold */
  readonly secrets: readonly string[];
  /** aborts when the process is to stop: streams that would last end then */
  readonly drainSignal: AbortSignal;
}

/** What a run is asked for. */
function newRun(config: Schema): Schema {
  return {
    type: 'object',
    properties: {
      dataset_id: { type: 'string', format: 'uuid' },
      name: { ...NAME, type: ['string', 'null'] },
      config,
    },
    required: ['dataset_id', 'config'],
    additionalProperties: false,
  };
}

const BODY_ERRORS = ['invalid_json', 'body_too_large', 'unsupported_media_type'];

/** The endpoints of runs: begin, list, show, results, cancel, watch. */
export function runRoutes(deps: RunDeps): readonly Route[] {
  const { runs } = deps.store;
  const watch = createWatch({
    read: (ids) => runs.getMany(ids),
    toText: (run) => toJsonText(runBody(run)),
    hasEnded: runHasEnded,
    drainSignal: deps.drainSignal,
  });
  const common = { tag: 'runs', produces: 'application/json' } as const;
  return [
    {
      ...common,
      method: 'post',
      path: '/runs',
      operationId: 'createRun',
      summary: 'Give every item of a dataset to a provider and score what comes back',
      access: 'editor',
      headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
      body: {
        contentType: 'application/json',
        // the configuration is checked by parseRunConfig, which can say more
        schema: newRun({ type: 'object' }),
        documented: newRun(RUN_CONFIG_SCHEMA),
      },
      responses: { 202: { description: 'the run, which the workers go on with', schema: RUN } },
      errors: [...BODY_ERRORS, 'dataset_not_found', 'idempotency_key_reused', 'unavailable'],
      handle: async (request) => {
        const body = request.body ?? {};
        const config = parseRunConfig(getMember(body, 'config') ?? null);
        const digest = (): Uint8Array => requestDigest('POST /runs', canonicalJson(body));
        return await withIdempotency(request, deps.store.idempotency, digest, async (claim) => {
          const created = await runs.create(
            {
              id: randomUUID(),
              datasetId: String(getMember(body, 'dataset_id')),
              name: (getMember(body, 'name') as string | null | undefined) ?? null,
              config: canonicalJson(withoutSecrets(config, deps.secrets)),
              repetitions: config.repetitions,
              requestId: currentContext().request_id ?? null,
            },
            claim === undefined ? undefined : { claim, answer: runAccepted },
          );
          runWithContext({ run_id: created.id }, () => {
            const item_count = created.counts.total / config.repetitions;
            const provider = config.provider.type;
            deps.logger.log('run.create', { dataset_id: created.datasetId, item_count, provider });
          });
          return runAccepted(created);
        });
      },
    },
    {
      ...common,
      method: 'get',
      path: '/runs',
      operationId: 'listRuns',
      summary: 'Runs, newest first',
      access: 'viewer',
      query: {
        ...PAGE_QUERY,
        dataset_id: { type: 'string', format: 'uuid', description: 'runs of this dataset' },
        status: { type: 'string', enum: RUN_STATUSES },
      },
      responses: { 200: { description: 'a page', schema: page(RUN) } },
      errors: ['invalid_cursor', 'unavailable'],
      handle: async ({ query, signal }) => {
        const found = await runs.list({
          ...pageOf(query),
          signal,
          datasetId: query['dataset_id'] as string | undefined,
          status: query['status'] as RunStatus | undefined,
        });
        return json(toPage(found, query, runBody));
      },
    },
    {
      ...common,
      method: 'get',
      path: '/runs/{id}',
      operationId: 'getRun',
      summary: 'One run: counts, scores and how far it is',
      access: 'viewer',
      responses: { 200: { description: 'the run as it is now', schema: RUN } },
      errors: ['run_not_found', 'unavailable'],
      handle: async ({ params }) => json(runBody(await runs.get(idOf(params)))),
    },
    {
      ...common,
      method: 'get',
      path: '/runs/{id}/results',
      operationId: 'listRunResults',
      summary: 'The results so far, in item order; a page has 16 MiB or one result at most',
      access: 'viewer',
      query: { ...PAGE_QUERY, status: { type: 'string', enum: RESULT_STATUSES } },
      responses: { 200: { description: 'a page', schema: page(RUN_RESULT) } },
      errors: ['run_not_found', 'invalid_cursor', 'unavailable'],
      handle: async ({ params, query, signal }) => {
        const status = query['status'] as (typeof RESULT_STATUSES)[number] | undefined;
        const found = await runs.listResults(idOf(params), { ...pageOf(query), status, signal });
        return pageResponse(found, query, resultBody);
      },
    },
    {
      ...common,
      method: 'post',
      path: '/runs/{id}/cancel',
      operationId: 'cancelRun',
      summary: 'Ask for a run to end; what it has so far stays',
      access: 'editor',
      responses: { 202: { description: 'the run as it is now', schema: RUN } },
      errors: ['run_not_found', 'run_finished', 'unavailable'],
      handle: async ({ params }) => json(runBody(await cancel(idOf(params), deps)), 202),
    },
    {
      ...common,
      method: 'get',
      path: '/runs/{id}/events',
      operationId: 'watchRun',
      summary: 'The progress of a run until its end, as server-sent events',
      access: 'viewer',
      produces: 'text/event-stream',
      streams: 'events',
      responses: {
        200: {
          description: 'events `progress` and at last `end`, the run as data of each',
          schema: { type: 'string' },
        },
      },
      errors: ['run_not_found', 'unavailable'],
      handle: async ({ params, signal }) => watch(await runs.get(idOf(params)), signal),
    },
  ];
}

const idOf = (params: RouteRequest['params']): string => params['id'] ?? '';

function runAccepted(run: Run): StoredResponse {
  return { status: 202, headers: { Location: `/runs/${run.id}` }, body: toJsonText(runBody(run)) };
}

/** Logged only where it has an effect: what has ended is not spoken of any more. */
async function cancel(id: string, { store: { runs }, logger }: RunDeps): Promise<Run> {
  const before = await runs.get(id);
  const run = await runs.requestCancel(id);
  if (!runHasEnded(before)) {
    runWithContext({ run_id: run.id }, () => {
      logger.log('run.cancel', { already_requested: before.cancelRequestedAt !== null });
    });
  }
  return run;
}

/**
 * The configuration as it is stored, shown and exported.
 *
 * @throws RequestError `invalid_request` where it holds a secret in a place where only its value gives it away
 */
function withoutSecrets(config: RunConfig, secrets: readonly string[]): JsonObject {
  const whole = runConfigToJson(config);
  const sanitised = sanitiseRunConfig(whole, secrets);
  if (canonicalJson(sanitised) === canonicalJson(whole)) return sanitised;
  const message =
    'the configuration holds what looks like a key, token or password; keys stay with the workers';
  throw new RequestError('invalid_request', message, { errors: [{ message, path: '/config' }] });
}
