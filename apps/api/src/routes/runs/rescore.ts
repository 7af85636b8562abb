import {
  CHECKER_SCHEMA,
  JUDGE_SCHEMA,
  MAX_COST_SCHEMA,
  parseAddedScorers,
  parseRescore,
  parseStoredRunConfig,
  type RunConfig,
  SCORERS_SCHEMA,
} from '@svc/evaluation';
import { canonicalJson, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { runWithContext } from '@svc/observability';
import { invalidRequest, jsonBody, orNull, type Route, type RouteRequest, type Schema } from '@svc/service';
import { planRun } from '@svc/service/flows';
import { type IdempotencyClaim, type Run, readStoredJson, type StoredResponse, StoreError } from '@svc/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/request-headers.ts';
import type { RouteDeps } from '../deps.ts';
import { NAME } from '../docs/schemas.ts';
import { checkSecrets, checkTexts, runAccepted, startRun } from './create.ts';
import { idOf, RUN_CHANGE } from './path-params.ts';
import { RUN } from './serialize.ts';

/** `POST /runs/{id}/rescore` */
export function rescoreRunRoute({
  store,
  checks,
  logger,
  secrets,
  config: { providerKeys },
}: RouteDeps): Route {
  return {
    ...RUN_CHANGE,
    path: '/runs/{id}/rescore',
    operationId: 'rescoreRun',
    summary:
      'Score the stored outputs of a run again, as a new run, or add scorers to it; no provider is asked, except the judge',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
    // parseRescore validates these members, with better messages
    body: jsonBody(
      members(
        { type: ['string', 'object', 'null'] },
        { type: ['object', 'null'] },
        { type: ['array', 'null'] },
      ),
      [],
      members(CHECKER_SCHEMA, JUDGE_SCHEMA, SCORERS_SCHEMA),
    ),
    responses: { 202: { description: 'the new run; with `add` the run itself', schema: RUN } },
    errors: [
      'nothing_to_score',
      'run_not_found',
      'run_active',
      'idempotency_key_reused',
      'unavailable',
      'run_imported',
      'scorer_exists',
      'too_many_scorers',
    ],
    handle: async (request) => {
      const { body } = request;
      const id = idOf(request.params);
      checkTexts(body, secrets);
      const digest = (): Uint8Array => requestDigest(`POST /runs/${id}/rescore`, canonicalJson(body));
      return await withIdempotency(request, store.idempotency, digest, async (claim) => {
        const source = await store.runs.get(id);
        const { datasetId, datasetVersion: version, repetitions } = source;
        const stated = readStoredJson(source.config);
        if (body['add'] === true) {
          return await add(source, parseStoredRunConfig(stated), request, claim);
        }
        const stored = parseStoredRunConfig(isOfTool(stated) ? { provider: 'external' } : stated);
        const config = parseRescore(body, { ...stored, repetitions });
        const configJson = checkSecrets(config, secrets, '');
        const planned = await planRun(
          { store, checks, providerKeys },
          { datasetId, version, config, checkerPath: '/checker', isRescore: true, signal: request.signal },
        );
        const name = (body['name'] as string | null | undefined) ?? source.name;
        const facts = { datasetId, version, name, sourceRunId: source.id };
        return await startRun({ store, logger }, { config, configJson, planned }, facts, claim);
      });
    },
  };

  async function add(
    source: Run,
    stored: RunConfig,
    { body, signal }: RouteRequest,
    claim: IdempotencyClaim | undefined,
  ): Promise<StoredResponse> {
    const { scorers = null, add: _, ...others } = body;
    const [other] = Object.entries(others).find(([, value]) => value !== null) ?? [];
    if (other !== undefined) throw invalidRequest(`/${other}`, `/${other} must be absent with add.`);
    if (scorers === null) throw invalidRequest('/scorers', '/scorers is required with add.');
    const added = parseAddedScorers(scorers, stored);
    if (added.taken !== null) {
      throw new StoreError('scorer_exists', `The run has a scorer ${added.taken}: use another name.`);
    }
    const configJson = checkSecrets(added.config, secrets, '');
    const { datasetId, datasetVersion: version } = source;
    const config = parseRescore({ scorers }, stored);
    await planRun(
      { store, checks, providerKeys },
      { datasetId, version, config, checkerPath: '/checker', isRescore: true, signal },
    );
    const run = await store.runs.addScorers(
      source.id,
      { config: canonicalJson(configJson), names: added.names, before: source.config },
      claim && { claim, of: runAccepted },
    );
    runWithContext({ run_id: run.id }, () =>
      logger.log('run.add_scorers', { scorer_count: added.names.length }),
    );
    return runAccepted(run);
  }
}

/** Whether a configuration is another tool's: it says nothing of how its outputs are scored here. */
const isOfTool = (config: JsonValue): boolean =>
  isJsonObject(config) && isJsonObject(config['imported_from']);

const ADD: Schema = {
  type: 'boolean',
  default: false,
  description: 'add `scorers` to the run itself instead of creating a new run',
};

const MAX_COST: Schema = orNull(
  MAX_COST_SCHEMA,
  'cost limit of the new run; null for none. Default: that of the run whose outputs it scores',
);

const members = (checker: Schema, judge: Schema, scorers: Schema): Readonly<Record<string, Schema>> => ({
  name: { ...NAME, type: ['string', 'null'] },
  ...{ checker, judge, scorers, add: ADD, max_cost: MAX_COST },
});
