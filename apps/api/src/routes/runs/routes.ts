import { RUN_FIELDS } from '@svc/jsonl-v23/runs';
import { type Config, json, ok, type Route, type Schema, shape, toJsonText } from '@svc/service';
import { RESULT_COLUMNS, resultsTable } from '@svc/service/flows';
import { RUNS_SORTS, type Run, type UsedModel } from '@svc/service/store';
import { createWatch } from '../../http/server-sent-events.ts';
import type { RouteDeps } from '../deps.ts';
import { PAGE_QUERY, page } from '../docs/schemas.ts';
import { listed, pageOf, pageResponse, wanted } from '../page.ts';
import { tableRoute } from '../table.ts';
import { changeRunRoutes } from './change.ts';
import { createRunRoute, rescoreRunRoute, tryRunRoute } from './create.ts';
import { pendingRoutes, pushRoutes } from './external.ts';
import { labelRoutes } from './labels.ts';
import { compareRoutes, resultRequestRoute, runPartsRoutes } from './run-parts.ts';
import { idOf, RESULTS_QUERY, RUN_READ, resultsConditions } from './run-queries.ts';
import { RUN, RUN_RESULT, serializeResult, serializeRun } from './serialize.ts';

export function runRoutes(deps: RouteDeps): readonly Route[] {
  const { runs } = deps.store;
  const progressOf = createProgressMeter(() => performance.now());
  const watch = createWatch({
    read: (ids) => runs.getMany(ids),
    toText: (run) => toJsonText({ ...serializeRun(run), progress: { ...progressOf(run) } }),
    drainSignal: deps.drainSignal,
  });
  const createRun = createRunRoute(deps);
  return [
    createRun,
    tryRunRoute(createRun),
    ...changeRunRoutes(deps),
    rescoreRunRoute(deps),
    ...compareRoutes(deps),
    ...pendingRoutes(deps),
    ...pushRoutes(deps),
    ...runPartsRoutes(deps),
    resultRequestRoute(deps),
    ...labelRoutes(deps),
    providersRoute(deps),
    ...resultTableRoutes(deps),
    {
      ...RUN_READ,
      path: '/runs',
      operationId: 'listRuns',
      summary: 'Runs, newest first or in another order',
      query: {
        ...PAGE_QUERY,
        dataset_id: { type: 'string', description: 'runs of the dataset with this id or handle' },
        status: { type: 'string', enum: RUN_FIELDS.status.values },
        label: { type: 'string', description: 'runs with this label' },
        version: {
          type: 'integer',
          minimum: 1,
          maximum: 2_147_483_647,
          description: 'runs of this version of a dataset',
        },
        name: { type: 'string', description: 'part of the name, case-insensitive' },
        model: { type: 'string', description: 'runs that ask this model' },
        sort: {
          type: 'string',
          enum: RUNS_SORTS,
          default: '-created_at',
          description:
            'ascending, or descending after `-`; `score` is the mean. Runs without a score or a name come last',
        },
      },
      responses: ok('a page', page(RUN)),
      errors: ['dataset_not_found'],
      handle: async (request) => {
        const dataset = request.query['dataset_id'] as string | undefined;
        const datasetId =
          dataset && (await deps.store.datasets.resolve(dataset, undefined, request.signal)).id;
        return await listed(request, runs.list(wanted(request, { datasetId })), (run) => serializeRun(run));
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}',
      operationId: 'getRun',
      summary: 'One run: counts, scores and progress',
      responses: ok('the run', RUN),
      handle: async ({ params, signal }) => {
        const run = await runs.prove(idOf(params), signal);
        return json(serializeRun(run, await runs.summarize(run.id, signal)));
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/results',
      operationId: 'listRunResults',
      summary: 'The results so far, in item order or another; a page has at most 16 MiB or one result',
      query: RESULTS_QUERY,
      responses: ok('a page', page(RUN_RESULT)),
      handle: async ({ params, query, caller, signal }) => {
        const conditions = resultsConditions(query);
        const blindFor = conditions.sample === undefined ? undefined : caller.name;
        const found = await runs.listResults(idOf(params), {
          ...pageOf(query),
          ...conditions,
          includeItems: query['include'] === 'item',
          sort: query['sort'] as string | undefined,
          signal,
        });
        const run = query['include'] === 'item' ? await runs.get(idOf(params)) : null;
        return pageResponse(found, query, (result) => serializeResult(result, run, blindFor));
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/events',
      operationId: 'watchRun',
      summary: 'The progress of a run until its end, as server-sent events',
      produces: 'text/event-stream',
      streams: 'events',
      responses: ok(
        'events `progress` and a last event `end`, each with the run and its `progress`: `results_per_minute` and `remaining_ms`',
        { type: 'string' },
      ),
      handle: async ({ params, signal }) => watch(await runs.get(idOf(params)), signal),
    },
  ];
}

const OPERATIONS = {
  jsonl: 'downloadResultsJsonl',
  csv: 'downloadResultsCsv',
  parquet: 'downloadResultsParquet',
} as const;

function resultTableRoutes({ store }: RouteDeps): readonly Route[] {
  return (['jsonl', 'csv', 'parquet'] as const).map((format) => ({
    ...RUN_READ,
    ...tableRoute(format, {
      columns: RESULT_COLUMNS,
      open: ({ params, signal }) => store.runs.open(idOf(params), { signal }),
      table: (open, choice) => resultsTable(open, { format, ...choice }),
    }),
    path: `/runs/{id}/results.${format}`,
    operationId: OPERATIONS[format],
    summary: 'The results so far, in item order, one row each',
    errors: ['item_too_large'],
  }));
}

const WINDOW_MS = 30_000;

function createProgressMeter(nowMs: () => number) {
  const samples = new Map<string, { readonly atMs: number; readonly written: number }[]>();
  return (run: Run) => {
    const atMs = nowMs();
    for (const [id, of] of samples) if (atMs - (of.at(-1)?.atMs ?? 0) > 2 * WINDOW_MS) samples.delete(id);
    if (run.finishedAt !== null) {
      samples.delete(run.id);
      return { results_per_minute: null, remaining_ms: 0 };
    }
    const of = samples.get(run.id) ?? [];
    samples.set(run.id, of);
    while (of.length > 1 && atMs - (of[1]?.atMs ?? 0) > WINDOW_MS) of.shift();
    if (of.at(-1)?.written !== run.resultsVersion) of.push({ atMs, written: run.resultsVersion });
    const [first] = of;
    const last = of.at(-1);
    if (first === undefined || last === undefined || last.atMs === first.atMs) {
      return { results_per_minute: null, remaining_ms: null };
    }
    const perMs = (last.written - first.written) / (last.atMs - first.atMs);
    const remainingMs = perMs > 0 ? Math.round(run.resultsLeft / perMs) : null;
    return { results_per_minute: Math.round(perMs * 600_000) / 10, remaining_ms: remainingMs };
  };
}

const TEXTS: Schema = { type: 'array', items: { type: 'string' } };

const PROVIDER: Schema = shape({
  name: {
    type: ['string', 'null'],
    description: 'name of the variable that holds the key (`api_key_env`); null for servers without a key',
  },
  origins: { ...TEXTS, description: 'origins that may receive the key, and origins of earlier runs' },
  models: { ...TEXTS, description: 'models of earlier runs, newest first' },
});

function providersRoute({ store: { runs }, config }: RouteDeps): Route {
  return {
    ...RUN_READ,
    path: '/providers',
    operationId: 'listProviders',
    summary: 'Providers that runs can name, and the models of earlier runs',
    access: 'editor',
    responses: ok(
      'the providers of the configuration, then those of earlier runs',
      shape({ data: { type: 'array', items: PROVIDER } }),
    ),
    handle: async () => {
      const found = listProviders(config.providerKeys, await runs.listModels());
      return json({ data: found });
    },
  };
}

/** One entry for each key, and for each origin without one. */
function listProviders(configured: Config['providerKeys'], used: readonly UsedModel[]) {
  const found = new Map<string, { name: string | null; origins: string[]; models: string[] }>();
  for (const [name, { origins }] of Object.entries(configured)) {
    found.set(name, { name, origins: [...origins], models: [] });
  }
  for (const { keyName, baseUrl, model } of used) {
    if (!URL.canParse(baseUrl)) continue;
    const { origin } = new URL(baseUrl);
    const entry = found.get(keyName ?? origin) ?? { name: keyName, origins: [], models: [] };
    found.set(keyName ?? origin, entry);
    if (!entry.origins.includes(origin)) entry.origins.push(origin);
    if (!entry.models.includes(model)) entry.models.push(model);
  }
  return [...found.values()];
}
