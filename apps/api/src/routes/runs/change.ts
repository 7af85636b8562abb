import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { runWithContext } from '@svc/observability';
import { empty, json, jsonBody, ok, orNull, type Route, type Schema } from '@svc/service';
import { MAX_COST_SCHEMA, parseRunConfig, parseStoredRunConfig, scorersOf } from '@svc/service/evaluation';
import { type RetryOnly, type Run, type RunChange, readStoredJson } from '@svc/service/store';
import type { RouteDeps } from '../deps.ts';
import { NAME } from '../docs/schemas.ts';
import { checkTexts } from './create.ts';
import { idOf, RUN_CHANGE } from './run-queries.ts';
import { RUN, serializeRun } from './serialize.ts';

const RETRY_ONLY = ['failed', 'unscored', 'truncated', 'missing'] as const satisfies readonly RetryOnly[];

const LABEL: Schema = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$',
  'x-rule': 'must be 1 to 64 letters, digits and any of . _ : / - that begin with a letter or a digit',
};

export function changeRunRoutes(deps: RouteDeps): readonly Route[] {
  const { runs } = deps.store;
  const accepted = { 202: { description: 'the run', schema: RUN } } as const;
  return [
    {
      ...RUN_CHANGE,
      method: 'patch',
      path: '/runs/{id}',
      operationId: 'updateRun',
      summary: 'Change the name, the labels or the note of a run',
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: {
            name: { ...NAME, type: ['string', 'null'] },
            labels: {
              type: 'array',
              maxItems: 20,
              items: LABEL,
              description: 'all labels of the run; repeated ones count once',
            },
            note: { type: ['string', 'null'], maxLength: 10_000 },
          },
          minProperties: 1,
          additionalProperties: false,
        },
      },
      responses: ok('the run', RUN),
      handle: async ({ params, body }) => {
        checkTexts(body, deps.secrets);
        return json(serializeRun(await runs.update(idOf(params), body as RunChange)));
      },
    },
    {
      ...RUN_CHANGE,
      method: 'delete',
      path: '/runs/{id}',
      operationId: 'deleteRun',
      summary: 'Delete a run that has ended, with its results',
      responses: { 204: { description: 'deleted' } },
      errors: ['run_active'],
      handle: async ({ params }) => {
        await runs.delete(idOf(params));
        return empty(204);
      },
    },
    {
      ...RUN_CHANGE,
      path: '/runs/{id}/cancel',
      operationId: 'cancelRun',
      summary: 'Cancel a run; its results so far are kept',
      responses: accepted,
      errors: ['run_finished'],
      handle: async ({ params }) => json(serializeRun(await cancel(idOf(params), deps)), 202),
    },
    {
      ...RUN_CHANGE,
      path: '/runs/{id}/retry',
      operationId: 'retryRun',
      summary: 'Repeat some results of a run that has ended, and make those that are missing',
      body: jsonBody(
        {
          only: {
            type: 'string',
            enum: RETRY_ONLY,
            description:
              'the results to repeat; each is replaced when the new one is written. `missing` only makes results that do not exist',
          },
          max_cost: orNull(MAX_COST_SCHEMA, 'new cost limit of the whole run; null for none'),
        },
        ['only'],
      ),
      responses: accepted,
      errors: ['run_active', 'run_imported', 'nothing_to_retry'],
      handle: async ({ params, body }) => {
        const only = body['only'] as RetryOnly;
        const id = idOf(params);
        const maxCost = body['max_cost'] as JsonObject | null | undefined;
        const config = maxCost === undefined ? null : withMaxCost((await runs.get(id)).config, maxCost);
        const run = await runs.retry(id, only, config);
        runWithContext({ run_id: run.id }, () => deps.logger.log('run.retry', { only }));
        return json(serializeRun(run), 202);
      },
    },
    finishRunRoute(deps),
  ];
}

/** A stored configuration with another limit. @throws RunError `invalid_request` without a price */
function withMaxCost(config: string, maxCost: JsonObject | null): string {
  const { max_cost: _, ...others } = readStoredJson(config) as JsonObject;
  return canonicalJson(parseRunConfig({ ...others, max_cost: maxCost }, '') as unknown as JsonObject);
}

/** Logs the request only when it has an effect. */
async function cancel(id: string, { store: { runs }, logger, metrics }: RouteDeps): Promise<Run> {
  const before = await runs.get(id);
  const run = await runs.requestCancel(id);
  if (before.finishedAt === null) {
    // Otherwise the worker counts it.
    if (run.isExternal) metrics.recordRun('cancelled');
    runWithContext({ run_id: run.id }, () => {
      logger.log('run.cancel', { already_requested: before.cancelRequestedAt !== null });
    });
  }
  return run;
}

function finishRunRoute({ store: { runs }, logger, metrics }: RouteDeps): Route {
  return {
    ...RUN_CHANGE,
    path: '/runs/{id}/finish',
    operationId: 'finishRun',
    summary: 'End a run whose results clients have sent; if it has judges, a worker asks them first',
    body: jsonBody({
      allow_missing: {
        type: 'boolean',
        default: false,
        description: 'end the run even if results are missing',
      },
    }),
    responses: ok('the run', RUN),
    errors: ['run_not_external', 'run_finished', 'run_incomplete'],
    handle: async ({ params, body }) => {
      const id = idOf(params);
      const before = await runs.get(id);
      const judges = judgeNames(before);
      const run = await runs.finish(id, { allowMissing: body['allow_missing'] === true, judges });
      if (before.finishedAt === null && run.finishedAt !== null) {
        metrics.recordRun('completed');
        runWithContext({ run_id: run.id }, () =>
          logger.log('run.finish', { missing: run.resultsLeft, item_count: run.counts.done }),
        );
      }
      return json(serializeRun(run));
    },
  };
}

const judgeNames = ({ config }: Run): readonly string[] =>
  scorersOf(parseStoredRunConfig(readStoredJson(config))).flatMap(({ name, judge }) =>
    judge === null ? [] : [name],
  );
