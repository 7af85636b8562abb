import { seesDataset } from './audit/actor.ts';
import { datasetNotFound } from './database/dataset-row.ts';
import { isUuid } from './database/values.ts';
import type { DatasetStore } from './datasets/dataset-store.ts';
import type { Pool } from './postgres/pool.ts';
import { runNotFound } from './runs/run-row.ts';
import type { RunStore } from './runs/run-store.ts';

type Ids = readonly (string | null | undefined)[];

/** Ids that a call names, and that its caller must see. */
interface Named {
  readonly datasets?: Ids;
  readonly runs?: Ids;
}

/**
 * For every method, what a call names. `itself`: the method restricts what it reads. `inside`: callers reach it by way of
 * another one only, or work for the service.
 */
type Rules<T> = {
  readonly [Name in keyof T]: T[Name] extends (...args: infer Args) => unknown
    ? 'itself' | 'inside' | ((...args: Args) => Named)
    : never;
};

const dataset = (id: string): Named => ({ datasets: [id] });
const run = (id: string): Named => ({ runs: [id] });
const runs = (id: string, otherId: string): Named => ({ runs: [id, otherId] });

const DATASETS: Rules<DatasetStore> = {
  begin: ({ target } = {}) => ({ datasets: target?.kind === 'version' ? [target.change.datasetId] : [] }),
  list: 'itself',
  get: dataset,
  update: dataset,
  delete: dataset,
  collect: 'inside',
  indexHashes: 'inside',
  resolve: 'itself',
  listVersions: dataset,
  restore: ({ datasetId }) => dataset(datasetId),
  deleteVersion: dataset,
  listSections: dataset,
  listItems: dataset,
  open: dataset,
  diff: (from, to) => ({ datasets: [from.id, to.id] }),
};

const RUNS: Rules<RunStore> = {
  create: ({ datasetId, sourceRunId, reusedRunId }) => ({
    datasets: [datasetId],
    runs: [sourceRunId, reusedRunId],
  }),
  // A stream, for a plan, whose dataset was resolved.
  readDeciding: 'inside',
  countReusable: ({ datasetId, runId }) => ({ datasets: [datasetId], runs: [runId] }),
  sample: ({ datasetId }) => dataset(datasetId),
  findLatest: ({ datasetId }) => dataset(datasetId),
  update: run,
  slice: run,
  itemOfResult: run,
  listModels: 'itself',
  errors: run,
  summarize: run,
  compare: runs,
  compareSlices: runs,
  delete: run,
  retry: run,
  addScorers: run,
  readPending: run,
  claimPending: run,
  push: run,
  pushScores: run,
  finish: run,
  deleteTrial: 'inside',
  deleteTrials: 'inside',
  collect: 'inside',
  get: run,
  prove: run,
  // Of runs that are watched already, for all who watch them.
  getMany: 'inside',
  list: 'itself',
  listResults: run,
  setLabel: run,
  listLabels: run,
  compareLabels: run,
  open: run,
  take: 'inside',
  readPaid: 'inside',
  requestCancel: run,
  fail: 'inside',
};

/** The stores for callers who name anything: what is no id, and what they may not see, is not found. */
export const onlyVisibleDatasets = (pool: Pool, store: DatasetStore): DatasetStore =>
  onlyVisible(pool, store, DATASETS);
export const onlyVisibleRuns = (pool: Pool, store: RunStore): RunStore => onlyVisible(pool, store, RUNS);

function onlyVisible<T extends object>(pool: Pool, store: T, rules: Rules<T>): T {
  const methods = Object.entries(store) as [keyof T & string, (...args: unknown[]) => unknown][];
  return Object.fromEntries(
    methods.map(([name, method]) => {
      const rule = rules[name] as string | ((...args: unknown[]) => Named);
      if (typeof rule === 'string') return [name, method];
      const checked = async (...args: unknown[]): Promise<unknown> => {
        await check(pool, rule(...args));
        return await method(...args);
      };
      return [name, checked];
    }),
  ) as T;
}

/** @throws StoreError `dataset_not_found`, `run_not_found`, as for ids that do not exist */
async function check(pool: Pool, { datasets = [], runs = [] }: Named): Promise<void> {
  const condition = seesDataset('dataset_id');
  for (const [ids, table, notFound] of [
    [datasets, '(SELECT id, id AS dataset_id FROM datasets) AS named', datasetNotFound],
    [runs, 'runs', runNotFound],
  ] as const) {
    const named = ids.filter((id) => id != null);
    const invalid = named.find((id) => !isUuid(id));
    if (invalid !== undefined) throw notFound(invalid);
    if (condition === null || named.length === 0) continue;
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE id = ANY ($1::uuid[]) AND ${condition}`,
      [named],
    );
    const seen = new Set(rows.map(({ id }) => id));
    const hidden = named.find((id) => !seen.has(id.toLowerCase()));
    if (hidden !== undefined) throw notFound(hidden);
  }
}
