import { randomUUID } from 'node:crypto';
import { parseRunConfig, RUN_CONFIG_SCHEMA, type RunConfig, runConfigToJson } from '@svc/evaluation';
import { canonicalJson, getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { currentContext, type Logger, runWithContext } from '@svc/observability';
import { sanitiseRunConfig } from '@svc/pkg-format/internal';
import { RequestError, type Route, type Schema, toJsonText } from '@svc/runtime';
import type { Run, Store, StoredResponse } from '@svc/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/idempotency.ts';
import { NAME } from '../datasets/fields.ts';
import { RUN, serializeRun } from './serialize.ts';

export interface CreateRunDeps {
  readonly logger: Logger;
  readonly store: Pick<Store, 'runs' | 'idempotency'>;
  /** Secrets known to this process, which no run may contain. */
  readonly secrets: readonly string[];
}

/** `POST /runs` */
export function createRunRoute({ store, logger, secrets }: CreateRunDeps): Route {
  return {
    method: 'post',
    path: '/runs',
    operationId: 'createRun',
    summary: 'Send every item of a dataset to a provider and score the results',
    tag: 'runs',
    access: 'editor',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
    body: {
      contentType: 'application/json',
      // parseRunConfig validates the configuration, with better messages
      schema: bodySchema({ type: 'object' }),
      documented: bodySchema(RUN_CONFIG_SCHEMA),
    },
    produces: 'application/json',
    responses: { 202: { description: 'the run, which the workers process', schema: RUN } },
    errors: [
      'invalid_json',
      'body_too_large',
      'unsupported_media_type',
      'dataset_not_found',
      'idempotency_key_reused',
      'unavailable',
    ],
    handle: async (request) => {
      const body = request.body ?? {};
      const config = parseRunConfig(getMember(body, 'config') ?? null);
      const digest = (): Uint8Array => requestDigest('POST /runs', canonicalJson(body));
      return await withIdempotency(request, store.idempotency, digest, async (claim) => {
        const run = await store.runs.create(
          {
            id: randomUUID(),
            datasetId: String(getMember(body, 'dataset_id')),
            name: (getMember(body, 'name') as string | null | undefined) ?? null,
            config: canonicalJson(checkSecrets(config, secrets)),
            repetitions: config.repetitions,
            requestId: currentContext().request_id ?? null,
          },
          claim === undefined ? undefined : { claim, response: runAccepted },
        );
        runWithContext({ run_id: run.id }, () => {
          const item_count = run.counts.total / config.repetitions;
          const provider = config.provider.type;
          logger.log('run.create', { dataset_id: run.datasetId, item_count, provider });
        });
        return runAccepted(run);
      });
    },
  };
}

function bodySchema(config: Schema): Schema {
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

function runAccepted(run: Run): StoredResponse {
  return { status: 202, headers: { Location: `/runs/${run.id}` }, body: toJsonText(serializeRun(run)) };
}

/**
 * The configuration as it is stored, shown and exported.
 *
 * @throws RequestError `invalid_request` when a value in it looks like a secret
 */
function checkSecrets(config: RunConfig, secrets: readonly string[]): JsonObject {
  const whole = runConfigToJson(config);
  const sanitised = sanitiseRunConfig(whole, secrets);
  if (canonicalJson(sanitised) === canonicalJson(whole)) return sanitised;
  const message =
    'The configuration contains what looks like a key, token or password. Configure keys on the workers.';
  throw new RequestError('invalid_request', message, { errors: [{ message, path: '/config' }] });
}
