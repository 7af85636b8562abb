import {
  CHECKER_SCHEMA,
  JUDGE_SCHEMA,
  parseRescore,
  parseStoredRunConfig,
  SCORERS_SCHEMA,
} from '@svc/evaluation';
import { planRun } from '@svc/flows';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { Route, Schema } from '@svc/runtime';
import { readStoredJson } from '@svc/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { NAME } from '../datasets/fields.ts';
import { type CreateRunDeps, checkSecrets, logCreated, newRun, runAccepted } from './create.ts';
import { RUN } from './serialize.ts';

/** `POST /runs/{id}/rescore` */
export function rescoreRunRoute({ store, checks, logger, secrets }: CreateRunDeps): Route {
  return {
    method: 'post',
    path: '/runs/{id}/rescore',
    operationId: 'rescoreRun',
    summary: 'Score the stored outputs of a run again, as a new run; no provider is asked, except the judge',
    tag: 'runs',
    access: 'editor',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
    body: {
      contentType: 'application/json',
      // parseRescore validates both, with better messages
      schema: bodySchema(
        { type: ['string', 'object', 'null'] },
        { type: ['object', 'null'] },
        { type: ['array', 'null'] },
      ),
      documented: bodySchema(CHECKER_SCHEMA, JUDGE_SCHEMA, SCORERS_SCHEMA),
    },
    produces: 'application/json',
    responses: { 202: { description: 'the new run', schema: RUN } },
    errors: [
      ...['invalid_json', 'body_too_large', 'unsupported_media_type', 'nothing_to_score'],
      ...['run_not_found', 'run_active', 'idempotency_key_reused', 'unavailable'],
    ],
    handle: async (request) => {
      const body = request.body ?? {};
      const { id = '' } = request.params;
      const digest = (): Uint8Array => requestDigest(`POST /runs/${id}/rescore`, canonicalJson(body));
      return await withIdempotency(request, store.idempotency, digest, async (claim) => {
        const source = await store.runs.get(id);
        const { datasetId, datasetVersion: version, repetitions } = source;
        const stored = parseStoredRunConfig(readStoredJson(source.config));
        const config = parseRescore(body, { ...stored, repetitions });
        const configJson = checkSecrets(config, secrets, '');
        const planned = await planRun(
          { store, checks },
          { datasetId, version, config, checkerPath: '/checker', isRescore: true, signal: request.signal },
        );
        const run = await store.runs.create(
          {
            ...newRun(config, configJson, planned),
            datasetId,
            version,
            name: (body['name'] as string | null | undefined) ?? source.name,
            sourceRunId: source.id,
          },
          claim === undefined ? undefined : { claim, response: runAccepted },
        );
        logCreated(run, config, logger);
        return runAccepted(run);
      });
    },
  };
}

function bodySchema(checker: Schema, judge: Schema, scorers: Schema): Schema {
  return {
    type: 'object',
    properties: { name: { ...NAME, type: ['string', 'null'] }, checker, judge, scorers },
    additionalProperties: false,
  };
}
