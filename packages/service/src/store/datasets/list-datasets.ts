import { MAX_NAME_LENGTH } from '@svc/jsonl-v23';
import { seesHandle } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import {
  type DatasetRow,
  type DatasetSource,
  type DatasetSummary,
  datasetsWith,
  SCHEMA_BYTES,
  SUMMARY_SECTIONS,
  shownDataset,
} from '../database/dataset-row.ts';
import {
  type ListOrder,
  type Page,
  type PageRequest,
  Parameters,
  readOrderedPage,
} from '../database/page.ts';
import { containing, searchableText } from '../database/values.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { PASS_RATE } from '../runs/run-row.ts';
import { withSections } from '../versions/list-versions.ts';

/** The newest run of a dataset that has ended and has a score. */
export interface LastRun {
  readonly id: string;
  readonly score: number;
  /** As in the run itself. */
  readonly passRate: number | null;
  readonly finishedAt: Date;
}

/** Reads the index on `(dataset_id, created_at, id)`, of each dataset down to the first run with a score. */
const LAST_RUNS = `
  SELECT shown.id AS "datasetId", last.* FROM unnest($1::uuid[]) AS shown (id) CROSS JOIN LATERAL (
    SELECT id, score_sum / scored AS score, ${PASS_RATE} AS "passRate", finished_at AS "finishedAt"
    FROM runs WHERE dataset_id = shown.id AND finished_at IS NOT NULL AND scored > 0 AND NOT is_trial
    ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS last`;

async function lastRuns(
  query: ReadQuery,
  datasetIds: readonly string[],
): Promise<ReadonlyMap<string, LastRun>> {
  if (datasetIds.length === 0) return new Map();
  const rows = await query<LastRun & { readonly datasetId: string }>(LAST_RUNS, [datasetIds]);
  return new Map(rows.map(({ datasetId, ...run }) => [datasetId, run]));
}

export const DATASET_ORDERS = ['-created', 'created', 'name', '-name', 'items', '-items'] as const;
export type DatasetOrder = (typeof DATASET_ORDERS)[number];

export interface DatasetsRequest extends PageRequest {
  /** Exactly this name. */
  readonly name?: string | undefined;
  /** Part of the name, description or handle, or the id; case-insensitive. */
  readonly q?: string | undefined;
  readonly source?: DatasetSource | undefined;
  readonly versionHash?: string | undefined;
  /** By default the newest first. */
  readonly order?: DatasetOrder | undefined;
}

export interface ListedDataset extends DatasetSummary {
  /** Null without a run that has ended and has a score. */
  readonly lastRun: LastRun | null;
}

/** A list omits the schema of an uploaded package beyond this size. */
const MAX_LISTED_SCHEMA_BYTES = 64 * 1024;

/** What a section has besides its name, in JSON. */
const SECTION_BYTES = 150;

/** What is read of datasets, and their sizes. */
const LISTED = {
  name: 'datasets',
  from: datasetsWith(),
  columns: shownDataset(MAX_LISTED_SCHEMA_BYTES),
  sizes: `, coalesce((
    SELECT sum(least(octet_length(s.name), 65536) + ${SECTION_BYTES}) FROM versions v
      CROSS JOIN LATERAL unnest(v.section_ids[:${SUMMARY_SECTIONS}]) AS shown (id) JOIN sections s ON s.id = shown.id
    WHERE v.dataset_id = datasets.id AND v.version = datasets.version
  ), 0) AS names`,
  bytes: `least(octet_length(name), 65536) + least(coalesce(octet_length(description), 0), 1048576)
    + least(coalesce(octet_length(notes), 0), 1048576) + least(${SCHEMA_BYTES}, 16777216) + names`,
} as const;

/**
 * Datasets, newest first. A schema over 64 KiB of an upload is left out of the list:
 * `{"source":"pkg_zip","package":null,"truncated":true}` replaces it. It reads the index on `(created_at, id)`; a search (`q`)
 * and other orders read all datasets.
 *
 * @throws StoreError `invalid_cursor`
 */
export async function listDatasets(
  { pool, searches }: StoreContext,
  request: DatasetsRequest,
): Promise<Page<ListedDataset>> {
  const { name, q, source, versionHash, order = '-created', signal } = request;
  using _permit = q === undefined ? undefined : await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const sees = seesHandle('datasets.handle');
  const filters = sees === null ? [] : [sees];
  if (name !== undefined) filters.push(`name = ${parameters.add(searchableText(name))}`);
  if (q !== undefined) {
    const wanted = searchableText(q);
    const found = ['name', 'description', 'handle'].map(containing(wanted, parameters.add(wanted)));
    filters.push(`(${found.join(' OR ')} OR id::text = ${parameters.add(wanted.toLowerCase())})`);
  }
  if (source !== undefined) filters.push(`source = ${parameters.add(source)}`);
  if (versionHash !== undefined)
    filters.push(`version_hash = ${parameters.add(searchableText(versionHash))}`);
  const list = { ...LISTED, filters, order: orderOf(order) };
  const page = await readOrderedPage<DatasetRow>(query, list, parameters, request);
  const datasets = await withSections(query, page.data);
  const runs = await lastRuns(
    query,
    datasets.map(({ id }) => id),
  );
  return {
    ...page,
    data: datasets.map((dataset) => ({ ...dataset, lastRun: runs.get(dataset.id) ?? null })),
  };
}

/** Equal beginnings of longer names, which no import writes, are in the order of their creation. */
const NAME = { value: `left(name, ${MAX_NAME_LENGTH})`, type: 'text' } as const;

function orderOf(order: DatasetOrder): ListOrder {
  const isDescending = order.startsWith('-');
  if (order.endsWith('name')) return { ...NAME, isDescending };
  return { value: order.endsWith('items') ? 'item_count' : null, type: 'float8', isDescending };
}
