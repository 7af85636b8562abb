import { randomUUID } from 'node:crypto';
import { BAR_SCHEMA, parseBar, parseRunConfig, RUN_CONFIG_SCHEMA, type RunConfig } from '@svc/evaluation';
import { barHash, SCORING } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { runWithContext } from '@svc/observability';
import { findRunConfigSecrets, holdsSecret } from '@svc/pkg-format/internal';
import {
  type JsonBody,
  json,
  jsonBody,
  RequestError,
  type Route,
  type Schema,
  toJsonText,
} from '@svc/service';
import { type PlannedRun, planRun } from '@svc/service/flows';
import {
  type IdempotencyClaim,
  type NewRun,
  type Run,
  type Store,
  type StoredResponse,
  StoreError,
} from '@svc/store';
import { askedBy, IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/request-headers.ts';
import type { RouteDeps } from '../deps.ts';
import { NAME } from '../docs/schemas.ts';
import { RUN_CHANGE } from './path-params.ts';
import { PLANNED, RUN, serializeRun } from './serialize.ts';
import { TRY_ITEMS, triedResponse } from './try.ts';

/** `POST /runs` */
export function createRunRoute({
  store,
  checks,
  logger,
  secrets,
  config: { providerKeys },
}: RouteDeps): Route {
  return {
    ...RUN_CHANGE,
    path: '/runs',
    operationId: 'createRun',
    summary: 'Send every item of a dataset to a provider and score the results',
    headers: { 'Idempotency-Key': IDEMPOTENCY_KEY },
    query: {
      dry_run: {
        type: 'boolean',
        default: false,
        description: 'return the plan without starting the run',
      },
      try: TRY_ITEMS,
    },
    // parseRunConfig validates the configuration, with better messages
    body: jsonBody(members({ type: 'object' }), ['dataset_id', 'config'], members(RUN_CONFIG_SCHEMA)),
    responses: {
      200: { description: 'for a dry run: the plan and its warnings', schema: PLANNED },
      202: { description: 'the run, which the workers process', schema: RUN },
    },
    errors: [
      'nothing_to_score',
      'dataset_not_found',
      'version_not_found',
      'ambiguous_version',
      'run_not_found',
      'run_active',
      'idempotency_key_reused',
      'unavailable',
    ],
    handle: async (request) => {
      const { body } = request;
      const config = parseRunConfig(body['config'] ?? null);
      const configJson = checkSecrets(config, secrets, '/config');
      checkTexts(body, secrets);
      const bar = sealedBar(body, config);
      const { signal } = request;
      const plan = (of: RunVersion): Promise<PlannedRun> =>
        planRun({ store, checks, providerKeys }, { ...of, config, checkerPath: '/config/checker', signal });
      if (request.query['dry_run'] === true) {
        return json(plannedBody(await plan(await findVersion(store, body, signal))));
      }
      const count = request.query['try'] as number | undefined;
      if (count !== undefined) {
        const asked = { ...(await findVersion(store, body, signal)), config, count, signal };
        return await triedResponse(asked, { store, checks, logger });
      }
      const digest = (): Uint8Array => requestDigest('POST /runs', canonicalJson(body));
      // Only the first request needs what it names: a repeat gets its response also where that has gone.
      return await withIdempotency(request, store.idempotency, digest, async (claim) => {
        const found = await findVersion(store, body, signal);
        const facts = {
          ...{ ...found, selection: config.select },
          name: (body['name'] as string | null | undefined) ?? null,
          isExternal: config.provider.type === 'external',
        };
        await checkBaseline(store, bar);
        const sealed = bar && { bar: canonicalJson(bar), barHash: barHash(canonicalJson(bar)) };
        const planned = await plan(found);
        const checked = { config, configJson, planned };
        return await startRun({ store, logger }, checked, { ...facts, ...sealed }, claim);
      });
    },
  };
}

/** The bar of a request as it is stored; null without one. @throws RunError `invalid_request` */
function sealedBar({ bar = null }: JsonObject, config: RunConfig): JsonObject | null {
  return bar === null ? null : (parseBar(bar as JsonObject, config) as unknown as JsonObject);
}

/** @throws StoreError `run_not_found`; `run_active` for a baseline whose results may still change */
async function checkBaseline({ runs }: Pick<Store, 'runs'>, bar: JsonObject | null): Promise<void> {
  const { baseline = null } = bar ?? {};
  if (baseline === null) return;
  const { finishedAt, status } = await runs.get(String(baseline));
  if (finishedAt !== null) return;
  throw new StoreError('run_active', `Cannot compare with the baseline: it is ${status}.`);
}

/** The version of a dataset that a run has. */
interface RunVersion {
  readonly datasetId: string;
  readonly version: number;
}

/** Finds the version that the body of a request names: its plan is of the items that the run will have. */
async function findVersion(
  { datasets }: Pick<Store, 'datasets'>,
  { dataset_id: dataset, version: named = null }: JsonObject,
  signal: AbortSignal,
): Promise<RunVersion> {
  const found = await datasets.resolve(String(dataset), named === null ? undefined : String(named), signal);
  const { version } = await datasets.get(found.id, found);
  return { datasetId: found.id, version };
}

/** What a dry run answers. */
function plannedBody({ plan, warnings }: PlannedRun): JsonBody {
  return { plan, warnings } as unknown as JsonBody;
}

/** A checked configuration, as it is stored, and what it plans. */
interface CheckedRun {
  readonly config: RunConfig;
  readonly configJson: JsonObject;
  readonly planned: PlannedRun;
}

type PlannedName =
  | 'id'
  | 'config'
  | 'repetitions'
  | 'requestId'
  | 'createdBy'
  | 'plan'
  | 'warnings'
  | 'reusedRunId'
  | 'scoring';

/** Creates a run, which the workers take, and the response to its request. */
export async function startRun(
  { store, logger }: Pick<RouteDeps, 'store' | 'logger'>,
  { config, configJson, planned: { plan, warnings, reusedRunId } }: CheckedRun,
  facts: Omit<NewRun, PlannedName>,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const run = await store.runs.create(
    {
      ...facts,
      id: randomUUID(),
      config: canonicalJson(configJson),
      repetitions: config.repetitions,
      ...askedBy(),
      plan: JSON.stringify(plan),
      warnings: JSON.stringify(warnings),
      reusedRunId,
      scoring: SCORING,
    },
    claim && { claim, of: runAccepted },
  );
  runWithContext({ run_id: run.id }, () => {
    const item_count = run.counts.total / config.repetitions;
    logger.log('run.create', { dataset_id: run.datasetId, item_count, provider: config.provider.type });
  });
  return runAccepted(run);
}

const members = (config: Schema): Readonly<Record<string, Schema>> => ({
  dataset_id: { type: 'string', minLength: 1, maxLength: 96, description: 'id or handle of the dataset' },
  version: {
    type: ['string', 'integer', 'null'],
    description:
      'version of the dataset: its number, or at least 8 digits of its hash; by default the newest',
  },
  name: { ...NAME, type: ['string', 'null'] },
  config,
  bar: { ...BAR_SCHEMA, type: ['object', 'null'] },
});

export function runAccepted(run: Run): StoredResponse {
  return { status: 202, headers: { Location: `/runs/${run.id}` }, body: toJsonText(serializeRun(run)) };
}

/**
 * The configuration as it is stored, shown and exported.
 *
 * @param path JSON Pointer of the configuration in the request body
 * @throws RequestError `invalid_request` with each place that holds what looks like a secret
 */
export function checkSecrets(config: RunConfig, secrets: readonly string[], path: string): JsonObject {
  // A checked configuration is the JSON document itself.
  const whole = config as unknown as JsonObject;
  const found = findRunConfigSecrets(whole, secrets).map((pointer) => `${path}${pointer}`);
  refuse('Invalid run configuration', found, `: ${SET_KEYS}`);
  return whole;
}

/**
 * Checks what people call a run. These texts are stored as they are sent, or refused.
 *
 * @throws RequestError `invalid_request` with each that holds a key, or what looks like one
 */
export function checkTexts({ name, note, labels }: JsonObject, secrets: readonly string[]): void {
  const texts: [string, JsonValue | undefined][] = [
    ['/name', name],
    ['/note', note],
    ...(Array.isArray(labels) ? labels : []).map((label, at): [string, JsonValue] => [
      `/labels/${at}`,
      label,
    ]),
  ];
  const found = texts.filter(([, text]) => typeof text === 'string' && holdsSecret(text, secrets));
  refuse(
    'Invalid run',
    found.map(([path]) => path),
  );
}

/** @throws RequestError `invalid_request` unless there are no paths */
function refuse(what: string, paths: readonly string[], advice = ''): void {
  const errors = paths.map((path) => ({
    message: `${path} looks like a key, token or password${advice}.`,
    path,
  }));
  if (errors.length === 0) return;
  const more = errors.length > 1 ? ` There are ${errors.length - 1} more problems.` : '';
  throw new RequestError('invalid_request', `${what}: ${errors[0]?.message}${more}`, { errors });
}

const SET_KEYS = 'set keys as environment variables of the workers (`api_key_env`)';
