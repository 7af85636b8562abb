import { randomUUID } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { barHash, PUBLIC_RESULT_FIELDS, RESULT_FIELDS, SCORING } from '@svc/jsonl-v23/runs';
import { runWithContext } from '@svc/observability';
import { findRunConfigSecrets, holdsSecret } from '@svc/pkg-format/secrets';
import {
  invalidRequest,
  type JsonBody,
  JsonText,
  json,
  jsonBody,
  type Logger,
  ok,
  orNull,
  RequestError,
  type Route,
  type RouteRequest,
  type RouteResponse,
  type Schema,
  shape,
  toJsonText,
} from '@svc/service';
import {
  BAR_SCHEMA,
  CHECKER_SCHEMA,
  JUDGE_SCHEMA,
  MAX_COST_SCHEMA,
  parseAddedScorers,
  parseBar,
  parseRescore,
  parseRunConfig,
  parseStoredRunConfig,
  RUN_CONFIG_SCHEMA,
  type RunConfig,
  SCORERS_SCHEMA,
} from '@svc/service/evaluation';
import {
  type PlannedRun,
  planRun,
  type TriedItem,
  type TryRunDeps,
  type TryRunRequest,
  tryRun,
} from '@svc/service/flows';
import {
  type IdempotencyClaim,
  type NewRun,
  type Run,
  readStoredJson,
  type Store,
  type StoredResponse,
  type StoredResult,
  StoreError,
} from '@svc/service/store';
import { askedBy, IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/request-headers.ts';
import type { RouteDeps } from '../deps.ts';
import { COUNT, fieldBody, fieldSchema, ITEM_ID, NAME, TEXT } from '../docs/schemas.ts';
import { idOf, RUN_CHANGE } from './run-queries.ts';
import { PLANNED, RUN, serializeRun } from './serialize.ts';

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
    ],
    handle: async (request) => {
      const { body } = request;
      const config = parseRunConfig(body['config'] ?? null);
      checkSecrets(config, secrets, '/config');
      checkTexts(body, secrets);
      const stated = (body['bar'] ?? null) as JsonObject | null;
      const bar = stated && (parseBar(stated, config) as unknown as JsonObject);
      const { signal } = request;
      const plan = (of: RunVersion): Promise<PlannedRun> =>
        planRun({ store, checks, providerKeys }, { ...of, config, checkerPath: '/config/checker', signal });
      if (request.query['dry_run'] === true) {
        const { plan: counts, warnings } = await plan(await findVersion(store, body, signal));
        return json({ plan: counts, warnings } as unknown as JsonBody);
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
        const checked = { config, planned: await plan(found) };
        return await startRun({ store, logger }, checked, { ...facts, ...sealed }, claim);
      });
    },
  };
}

/** @throws StoreError `run_not_found`; `run_active` for a baseline whose results may still change */
async function checkBaseline({ runs }: Pick<Store, 'runs'>, bar: JsonObject | null): Promise<void> {
  const { baseline = null } = bar ?? {};
  if (baseline === null) return;
  const { finishedAt, status } = await runs.get(String(baseline));
  if (finishedAt !== null) return;
  throw new StoreError('run_active', `Cannot compare with the baseline: it is ${status}.`);
}

type RunVersion = Pick<TryRunRequest, 'datasetId' | 'version'>;

async function findVersion(
  { datasets }: Pick<Store, 'datasets'>,
  { dataset_id: dataset, version: named = null }: JsonObject,
  signal: AbortSignal,
): Promise<RunVersion> {
  const found = await datasets.resolve(String(dataset), named === null ? undefined : String(named), signal);
  const { version } = await datasets.get(found.id, found);
  return { datasetId: found.id, version };
}

async function startRun(
  { store, logger }: Pick<RouteDeps, 'store' | 'logger'>,
  { config, planned }: { readonly config: RunConfig; readonly planned: PlannedRun },
  facts: RunVersion & Pick<NewRun, 'selection' | 'name' | 'isExternal' | 'bar' | 'barHash' | 'sourceRunId'>,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const { plan, warnings, reusedRunId } = planned;
  const run = await store.runs.create(
    {
      ...facts,
      id: randomUUID(),
      config: canonicalJson(config as unknown as JsonObject),
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

function runAccepted(run: Run): StoredResponse {
  return { status: 202, headers: { Location: `/runs/${run.id}` }, body: toJsonText(serializeRun(run)) };
}

/** @param path JSON Pointer of the configuration in the request body */
function checkSecrets(config: RunConfig, secrets: readonly string[], path: string): void {
  // A checked configuration is the JSON document itself.
  const found = findRunConfigSecrets(config as unknown as JsonObject, secrets).map(
    (pointer) => `${path}${pointer}`,
  );
  refuse('Invalid run configuration', found, `: ${SET_KEYS}`);
}

/** Checks what people call a run. These texts are stored as they are sent, or refused. */
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

const MAX_ITEMS = 20;

const TRY_ITEMS: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_ITEMS,
  description: 'number of items to ask immediately; returns the requests and outputs, and keeps nothing',
};

const SHOWN: ReadonlySet<string> = new Set([
  ...['output', 'reasoning', 'error', 'finish_reason', 'usage', 'latency_ms'],
]);
const FIELDS = PUBLIC_RESULT_FIELDS.filter(({ wire }) => SHOWN.has(wire));

const TRIED: Schema = shape({
  data: {
    type: 'array',
    items: shape({
      section: TEXT,
      order_index: COUNT,
      item_id: ITEM_ID,
      request: {
        type: ['object', 'null'],
        description: 'the body that the model was sent, with links to files; null if no model was asked',
      },
      ...Object.fromEntries(FIELDS.map((field) => [field.wire, fieldSchema(field)])),
      scores: {
        ...fieldSchema(RESULT_FIELDS.scores),
        type: 'object',
        description: 'by the name of the scorer; `main` for a configuration without `scorers`',
      },
    }),
  },
});

async function triedResponse(
  request: Omit<TryRunRequest, 'requestId' | 'createdBy'>,
  { store, checks, logger }: TryRunDeps & { readonly logger: Pick<Logger, 'log'> },
): Promise<RouteResponse> {
  const startMs = performance.now();
  const tried = await tryRun({ store, checks }, { ...request, ...askedBy() });
  logger.log('run.try', {
    dataset_id: request.datasetId,
    item_count: tried.length,
    provider: request.config.provider.type,
    duration_ms: Math.round(performance.now() - startMs),
  });
  return json({ data: tried.map(serializeTried) });
}

export function tryRunRoute(createRun: Route): Route {
  const { headers: _, ...route } = createRun;
  return {
    ...route,
    path: '/runs/try',
    operationId: 'tryRun',
    summary: 'Ask some items and show requests and outputs; nothing is kept. The same as `POST /runs?try=3`',
    query: { items: { ...TRY_ITEMS, default: 3 } },
    responses: ok('what was asked and what came back, in item order', TRIED),
    errors: ['dataset_not_found', 'version_not_found', 'ambiguous_version'],
    handle: (request) => createRun.handle({ ...request, query: { try: request.query['items'] as number } }),
  };
}

function serializeTried({ item, itemId, request, result, failure }: TriedItem): JsonBody {
  const fields = FIELDS.map((field) => [field.wire, result && fieldBody(field, result[field.name])]);
  return {
    section: item.section,
    order_index: item.orderIndex,
    item_id: itemId as JsonBody,
    request: request === null ? null : new JsonText(request),
    ...Object.fromEntries(fields),
    ...(failure === null ? {} : { error: { ...failure } }),
    scores: result === null ? {} : scoresOf(result),
  };
}

function scoresOf({ scores, score, passed, explanation, scoredBy }: StoredResult): JsonBody {
  if (scores !== null) return new JsonText(scores);
  if (score === null) return {};
  const said = explanation === null ? null : new JsonText(explanation);
  return { main: { score, passed, explanation: said, scored_by: scoredBy } };
}

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
      rescoreMembers(
        { type: ['string', 'object', 'null'] },
        { type: ['object', 'null'] },
        { type: ['array', 'null'] },
      ),
      [],
      rescoreMembers(CHECKER_SCHEMA, JUDGE_SCHEMA, SCORERS_SCHEMA),
    ),
    responses: { 202: { description: 'the new run; with `add` the run itself', schema: RUN } },
    errors: ['nothing_to_score', 'run_active', 'run_imported', 'scorer_exists', 'too_many_scorers'],
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
        checkSecrets(config, secrets, '');
        const planned = await planRun(
          { store, checks, providerKeys },
          { datasetId, version, config, checkerPath: '/checker', isRescore: true, signal: request.signal },
        );
        const name = (body['name'] as string | null | undefined) ?? source.name;
        const facts = { datasetId, version, name, sourceRunId: source.id };
        return await startRun({ store, logger }, { config, planned }, facts, claim);
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
    checkSecrets(added.config, secrets, '');
    const { datasetId, datasetVersion: version } = source;
    const config = parseRescore({ scorers }, stored);
    await planRun(
      { store, checks, providerKeys },
      { datasetId, version, config, checkerPath: '/checker', isRescore: true, signal },
    );
    const run = await store.runs.addScorers(
      source.id,
      {
        config: canonicalJson(added.config as unknown as JsonObject),
        names: added.names,
        before: source.config,
      },
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

const rescoreMembers = (
  checker: Schema,
  judge: Schema,
  scorers: Schema,
): Readonly<Record<string, Schema>> => ({
  name: { ...NAME, type: ['string', 'null'] },
  ...{ checker, judge, scorers, add: ADD, max_cost: MAX_COST },
});
