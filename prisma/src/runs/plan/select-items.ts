import type { RunSelection } from '@svc/evaluation';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { ReadQuery } from '@svc/postgres';
import type { Parameters } from '../../database/page.ts';
import { insideJsonString, memberText, readableJson, searchableText } from '../../database/values.ts';
import { cutRange, itemsInRanges, readRanges, type SectionRange } from '../../items/item-ranges.ts';
import { ofVersion } from '../../items/version-sql.ts';

const STATED_TAGS = `${readableJson('i.payload')} -> 'tags'`;

/** Items of a version that a run selects. */
interface SelectedItems {
  /** SQL for them: rows with `section` and `item`, their order indexes, `part_id` and `ordinal`. */
  readonly sql: string;
  /** The parts that may have them. */
  readonly partIds: readonly string[];
}

/**
 * The items of a version that pass a selection: its first members are conditions; `limit` counts the items of the whole
 * version. A sample of n are the n items with the smallest SHA-256 of `<seed>:<section order index>:<order index>` in UTF-8, so
 * that it depends on nothing else.
 *
 * @param version null for the newest
 */
export async function selectItems(
  query: ReadQuery,
  { datasetId, version }: { readonly datasetId: string; readonly version: number | null },
  selection: RunSelection,
  parameters: Parameters,
): Promise<SelectedItems> {
  const { types, tags, item_ids: itemIds, sample } = selection;
  const { add } = parameters;
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
  const ranges = await rangesOf(query, { datasetId, version }, selection);
  const partIds = [...new Set(ranges.map(({ partId }) => partId))];
  const items = itemsInRanges(
    ranges,
    parameters,
    conditions.map((condition) => `AND ${condition}`).join(' '),
  );
  const chosen = `SELECT i.section, i.order_index AS item, i.part_id, i.ordinal FROM ${items} i`;
  if (sample === undefined) return { sql: chosen, partIds };
  // As a subquery alone, Citus fails to read what several shards answer: "insufficient data left in message".
  const sql = `WITH sampled AS MATERIALIZED (
      SELECT section, item, part_id, ordinal FROM (${chosen}) AS candidate
      ORDER BY sha256(convert_to(${add(String(sample.seed))}::text || ':' || section || ':' || item, 'UTF8')), section, item
      LIMIT ${add(sample.n)}::int
    ) SELECT section, item, part_id, ordinal FROM sampled`;
  return { sql, partIds };
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
