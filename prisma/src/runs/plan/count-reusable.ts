import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { readableJson } from '../../database/values.ts';
import { itemsInRanges } from '../../items/item-ranges.ts';
import { type ReadQuery, readFrom, SNAPSHOT } from '../../postgres/read-query.ts';
import { joinItems, readJoinedVersion } from '../read-items-at.ts';
import type { VersionOfRun } from '../run-row.ts';
import type { SelectionRequest } from './read-deciding.ts';
import { selectRanges } from './select-items.ts';

/** Which outputs of an earlier run may be taken. */
export interface ReuseRequest extends SelectionRequest {
  /** The earlier run, which asks the same about equal items. */
  readonly runId: string;
  readonly repetitions: number;
  /** Whether what it asks depends on more than the question of an item: on `id` and `meta`. */
  readonly asksMore: boolean;
}

/** What a request says about an item: its question, with the files in it. */
const QUESTION = [
  'i.type',
  'i.assets::text',
  'i.linked_files::text',
  ...[`(${readableJson('i.payload')} -> 'inputs')::text`],
];
const MORE = ['id', 'meta'].map((name) => `(${readableJson('i.payload')} -> '${name}')::text`);

/**
 * Counts the requests of a run that an earlier one has an answer to, without making them: of items that are in both runs by their hashes, and
 * of those that are in one of them by their questions. The database reads the items, for as long as the caller waits.
 */
export async function countReusable(
  { pool, searches }: StoreContext,
  request: ReuseRequest,
): Promise<number> {
  const { datasetId, version, selection, signal } = request;
  using _permit = await searches.acquire(signal);
  return await readFrom(
    pool,
    async (query) => {
      const selected = await selectRanges(query, { datasetId, version }, selection ?? {});
      const parameters = new Parameters(selected.values);
      const items = itemsInRanges(selected.ranges, parameters, selected.conditions);
      return await countIn(query, `SELECT i.* FROM ${items} i`, request, parameters);
    },
    signal,
    `${SNAPSHOT}; SET LOCAL statement_timeout = 0`,
  );
}

/** @param items a subquery with the columns of `items i` */
async function countIn(
  query: ReadQuery,
  items: string,
  { runId, repetitions, asksMore }: ReuseRequest,
  { add, values }: Parameters,
): Promise<number> {
  const parts = [...QUESTION, ...(asksMore ? MORE : [])].map((part) => `coalesce(${part}, '')`);
  // JSON text has no line breaks.
  const question = `sha256(convert_to(${parts.join(` || E'\\n' || `)}, 'UTF8'))`;
  const earlier = `${add(runId)}::uuid`;
  const repeated = `${add(repetitions)}::int`;
  const [run] = await query<VersionOfRun>(
    'SELECT dataset_id AS "datasetId", dataset_version AS version FROM runs WHERE id = $1',
    [runId],
  );
  if (run === undefined) return 0;
  const join = joinItems(await readJoinedVersion(query, run), add, { rows: 'other' });
  const [found] = await query<{ readonly count: string }>(
    `WITH answered AS MATERIALIZED (
       SELECT DISTINCT item_hash, repetition FROM run_results
       WHERE run_id = ${earlier} AND request_hash IS NOT NULL AND repetition <= ${repeated}
     ), asked AS MATERIALIZED (
       SELECT item_hash, count(*) AS items FROM (${items}) AS i GROUP BY item_hash
     ), changed AS MATERIALIZED (
       SELECT ${question} AS question FROM (${items}) AS i
         LEFT JOIN (SELECT DISTINCT item_hash FROM answered) AS known ON known.item_hash = i.item_hash
       WHERE known.item_hash IS NULL
     ), other AS MATERIALIZED (
       SELECT result.section_order_index, result.order_index, result.repetition
       FROM run_results result LEFT JOIN asked ON asked.item_hash = result.item_hash
       WHERE result.run_id = ${earlier} AND result.request_hash IS NOT NULL AND result.repetition <= ${repeated}
         AND asked.item_hash IS NULL
     ), ${join.cte}, gone AS (
       SELECT DISTINCT ${question} AS question, other.repetition FROM other ${join.sections} ${join.items}
     )
     SELECT (SELECT coalesce(sum(items), 0) FROM asked JOIN answered USING (item_hash))
       + (SELECT count(*) FROM changed JOIN gone USING (question)) AS count`,
    values,
  );
  return Number(found?.count ?? 0);
}
