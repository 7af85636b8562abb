import type { RunSelection } from '@svc/evaluation';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { insideJsonString, memberText, readableJson, searchableText } from '../../database/values.ts';
import { itemsOf, ofVersion } from '../../items/version-sql.ts';

const STATED_TAGS = `${readableJson('i.payload')} -> 'tags'`;

/**
 * SQL that gives the selected items of dataset `$1` in version `$2` (null for the newest) as `section` and `item`, their order indexes.
 *
 * The first members are conditions; `limit` counts the items of the whole dataset. A sample of n are the n items with the
 * smallest SHA-256 of `<seed>:<section order index>:<order index>` in UTF-8, so that it depends on nothing else.
 *
 * @param add adds a value and gives its placeholder
 */
export function selectItems(
  { limit, sections, types, tags, item_ids: itemIds, sample }: RunSelection,
  add: (value: unknown) => string,
): string {
  const conditions = [];
  if (limit !== undefined) conditions.push(`s.before + i.order_index < ${add(limit)}::int`);
  if (sections !== undefined) conditions.push(`s.name = ANY (${add(sections.map(searchableText))}::text[])`);
  if (types !== undefined) conditions.push(`i.type = ANY (${add(types.map(insideJsonString))}::text[])`);
  if (tags !== undefined) {
    conditions.push(`EXISTS (
      SELECT FROM json_array_elements(CASE WHEN json_typeof(${STATED_TAGS}) = 'array' THEN ${STATED_TAGS} END) AS tag
      WHERE ${memberText('tag')} = ANY (${add(tags.map((tag) => canonicalJson(tag)))}::text[]))`);
  }
  if (itemIds !== undefined) {
    conditions.push(`i.item_id = ANY (${add(itemIds.map((id) => canonicalJson(id)))}::text[])`);
  }
  const chosen = `SELECT s.order_index AS section, i.order_index AS item
    FROM (
      SELECT s.*, sum(item_count) OVER (ORDER BY order_index) - item_count AS before
      FROM version_sections s WHERE ${ofVersion('$1', '$2')}
    ) s CROSS JOIN LATERAL ${itemsOf()} i
    WHERE ${conditions.length === 0 ? 'true' : conditions.join(' AND ')}`;
  if (sample === undefined) return chosen;
  return `SELECT section, item FROM (${chosen}) AS candidate
    ORDER BY sha256(convert_to(${add(String(sample.seed))}::text || ':' || section || ':' || item, 'UTF8')), section, item
    LIMIT ${add(sample.n)}::int`;
}
