import type { RunItem, RunSelection } from '@svc/evaluation';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { insideJsonString, memberText, readableJson, searchableText } from '../../database/values.ts';
import {
  cutRange,
  type ItemPosition,
  itemsInRanges,
  ofVersion,
  readRanges,
  type SectionRange,
} from '../../items/item-ranges.ts';
import { planItems, readPlannedItems } from '../../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { readCandidatesAt } from '../read-items-at.ts';
import { toRunItem } from '../read-run-items.ts';

const STATED_TAGS = `${readableJson('i.payload')} -> 'tags'`;

/**
 * The items of a version that pass a selection: its first members are conditions; `limit` counts the items of the whole
 * version. A sample of n are the n items with the smallest SHA-256 of `<seed>:<section order index>:<order index>` in UTF-8, so
 * that it depends on nothing else.
 *
 * @param version null for the newest
 * @returns SQL for rows with `section` and `item`, their order indexes
 */
export async function selectItems(
  query: ReadQuery,
  { datasetId, version }: { readonly datasetId: string; readonly version: number | null },
  selection: RunSelection,
  parameters: Parameters,
): Promise<string> {
  const { sample } = selection;
  const { add } = parameters;
  const ranges = await rangesOf(query, { datasetId, version }, selection);
  const items = itemsInRanges(ranges, parameters, conditionsOf(selection, add));
  const chosen = `SELECT i.section, i.order_index AS item FROM ${items} i`;
  if (sample === undefined) return chosen;
  // As a subquery alone, Citus fails to read what several shards answer: "insufficient data left in message".
  return `WITH sampled AS MATERIALIZED (
      SELECT section, item FROM (${chosen}) AS candidate
      ORDER BY ${rankOf(sample, add, 'section', 'item')}, section, item LIMIT ${add(sample.n)}::int
    ) SELECT section, item FROM sampled`;
}

/** The same items as ranges, which can be read a part at a time. They pass the conditions on the row `i` of `items`. */
export interface SelectedRanges {
  readonly ranges: readonly SectionRange[];
  /** SQL for `itemsInRanges`. */
  readonly conditions: string;
  /** The parameters of the conditions. */
  readonly values: readonly unknown[];
}

/** See {@link selectItems}. What is sampled is what has no larger rank than the last of the sample. */
export async function selectRanges(
  query: ReadQuery,
  version: { readonly datasetId: string; readonly version: number | null },
  selection: RunSelection,
): Promise<SelectedRanges> {
  const ranges = await rangesOf(query, version, selection);
  const conditions = new Parameters();
  const { add, values } = conditions;
  const condition = conditionsOf(selection, add);
  const { sample } = selection;
  if (sample === undefined) return { ranges, conditions: condition, values };
  const candidates = new Parameters(values);
  const items = itemsInRanges(ranges, candidates, condition);
  const [last] = await query<{ readonly rank: Uint8Array | null }>(
    `SELECT max(rank) AS rank FROM (SELECT ${rankOf(sample, candidates.add, 'section', 'order_index')} AS rank
       FROM ${items} i ORDER BY rank LIMIT ${candidates.add(sample.n)}::int) AS sampled`,
    candidates.values,
  );
  const rank = rankOf(sample, add, 'range.section', '(range.start + i.ordinal - range.first)');
  return { ranges, conditions: `${condition} AND ${rank} <= ${add(last?.rank ?? null)}::bytea`, values };
}

/** SQL for what a sample sorts items by. */
const rankOf = (
  { seed = 0 }: NonNullable<RunSelection['sample']>,
  add: Parameters['add'],
  section: string,
  item: string,
): string => `sha256(convert_to(${add(String(seed))}::text || ':' || ${section} || ':' || ${item}, 'UTF8'))`;

/** SQL for the conditions of a selection on the row `i` of `items`, each beginning with AND. */
function conditionsOf({ types, tags, item_ids: itemIds }: RunSelection, add: Parameters['add']): string {
  const conditions = [];
  if (types !== undefined) conditions.push(`i.type = ANY (${add(types.map(insideJsonString))}::text[])`);
  if (tags !== undefined) {
    conditions.push(`EXISTS (
      SELECT FROM json_array_elements(CASE WHEN json_typeof(${STATED_TAGS}) = 'array' THEN ${STATED_TAGS} END) AS tag
      WHERE ${memberText('tag')} = ANY (${add(tags.map((tag) => canonicalJson(tag)))}::text[]))`);
  }
  if (itemIds !== undefined) {
    conditions.push(`i.item_id = ANY (${add(itemIds.map((id) => canonicalJson(id)))}::text[])`);
  }
  return conditions.map((condition) => `AND ${condition}`).join(' ');
}

/** The items of the sections and up to the limit of a selection. */
async function rangesOf(
  query: ReadQuery,
  { datasetId, version }: { readonly datasetId: string; readonly version: number | null },
  { limit, sections }: RunSelection,
): Promise<readonly SectionRange[]> {
  const ranges = await readRanges(query, { datasetId, version });
  if (limit === undefined && sections === undefined) return ranges;
  const named =
    sections === undefined
      ? []
      : await query<{ readonly section: number }>(
          `SELECT s.order_index AS section FROM version_sections s WHERE ${ofVersion('$1', '$2')} AND s.name = ANY ($3::text[])`,
          [datasetId, version, sections.map(searchableText)],
        );
  const wanted = new Set(named.map(({ section }) => section));
  let left = limit ?? Number.POSITIVE_INFINITY;
  return ranges.flatMap((range) => {
    const taken = Math.min(range.count, left);
    left -= taken;
    return sections === undefined || wanted.has(range.section) ? cutRange(range, 0, taken) : [];
  });
}

/** Some of the items that a run would have. */
export interface SampleRequest {
  readonly datasetId: string;
  readonly version: number;
  /** With a sample. */
  readonly selection: RunSelection;
  readonly signal: AbortSignal;
}

/** Some of the items that a run would have, in order: as many as fit into a page. */
export async function sampleItems(
  { pool, searches, ...limits }: StoreContext,
  { datasetId, version, selection, signal }: SampleRequest,
): Promise<RunItem[]> {
  using _permit = await searches.acquire(signal);
  const query = createReadQuery(pool, signal);
  const parameters = new Parameters();
  const sql = await selectItems(query, { datasetId, version }, selection, parameters);
  const chosen = await query<ItemPosition>(
    `SELECT section AS "sectionOrderIndex", item AS "orderIndex" FROM (${sql}) AS chosen`,
    parameters.values,
  );
  const candidates = await readCandidatesAt(query, { datasetId, version }, chosen);
  const rows = await readPlannedItems(query, planItems(candidates, limits, 'link'));
  return rows.map((row) => ({ ...toRunItem(row, limits), doneRepetitions: [] }));
}
