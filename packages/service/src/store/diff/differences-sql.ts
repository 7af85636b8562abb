import type { Parameters } from '../database/page.ts';
import { readableJson } from '../database/values.ts';
import { ofParts, partsOf } from '../items/item-ranges.ts';

/** Items with more are not paired by their prompts. */
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;
/** Longer ids are compared by their hashes. */
const MAX_ID_BYTES = 64;
/** Sections whose order is told. */
const MAX_SECTIONS = 1_000;

/** The condition for spans whose other items may have an id of an item that both sides have placed: those are the same on both sides. */
const PARTLY_PLACED = `pair IN (
  SELECT pair FROM pairs JOIN placed USING (pair) GROUP BY pair, a_count
  HAVING count(a_id) > 0 AND count(b_id) > 0 AND count(a_hash) < a_count)`;

const member = (name: string): string => `(${readableJson('i.payload')} #> '{inputs,${name}}')::text`;

/**
 * A subquery for the hash `prompt` of the prompt, or else of the messages, of an item; null without either. ORDER BY keeps the
 * server from reading a member again for each time that it is named.
 */
const promptOf = (condition: string): string => `(
  SELECT sha256(convert_to(CASE WHEN left(text, 1) = '"' THEN text WHEN left(messages, 1) = '[' THEN messages END, 'UTF8')) AS prompt
  FROM (
    SELECT text, CASE WHEN left(text, 1) = '"' THEN NULL ELSE ${member('messages')} END AS messages FROM (
      SELECT i.ordinal, i.payload, ${member('prompt')} AS text FROM items i
      WHERE ${condition} AND i.byte_length <= ${MAX_PROMPT_BYTES} ORDER BY i.ordinal
    ) i ORDER BY ordinal
  ) item
)`;

/**
 * Where two lists of sections, $1 and $2, have different ranges: one row of {@link Spans}. Sections are paired by their names,
 * and equal ones are left out.
 */
export const SPANS: string = `
WITH named AS (
  SELECT side, s.id, s.item_count, place.n::int - 1 AS section, sha256(convert_to(s.name, 'UTF8')) AS name,
    row_number() OVER (PARTITION BY side, s.name ORDER BY place.n) AS occurrence
  FROM (SELECT 'a' AS side, $1::uuid[] AS ids UNION ALL SELECT 'b', $2::uuid[]) sides
    CROSS JOIN LATERAL unnest(ids) WITH ORDINALITY AS place (id, n) JOIN sections s ON s.id = place.id
), pairs AS MATERIALIZED (
  SELECT row_number() OVER ()::int AS pair, a.id AS a_section_id, b.id AS b_section_id, a.item_count AS a_count, a.section AS a_section, b.section AS b_section
  FROM (SELECT * FROM named WHERE side = 'a') a FULL JOIN (SELECT * FROM named WHERE side = 'b') b USING (name, occurrence)
  WHERE a.id IS DISTINCT FROM b.id
), a_ranges AS MATERIALIZED (${rangesOfSide('a')}), b_ranges AS MATERIALIZED (${rangesOfSide('b')}),
spans AS (
  SELECT spans.pair, start, stop, a.part_id AS a_part, a.shift AS a_shift, b.part_id AS b_part, b.shift AS b_shift
  FROM (
    SELECT pair, start, lead(start) OVER w AS stop, max(max(a_n)) OVER w AS a_n, max(max(b_n)) OVER w AS b_n
    FROM (SELECT pair, start, n AS a_n, NULL::bigint AS b_n FROM a_ranges UNION ALL SELECT pair, start, NULL, n FROM b_ranges) point
    GROUP BY pair, start WINDOW w AS (PARTITION BY pair ORDER BY start)
  ) spans LEFT JOIN (SELECT pair, n AS a_n, part_id, shift FROM a_ranges) a USING (pair, a_n)
    LEFT JOIN (SELECT pair, n AS b_n, part_id, shift FROM b_ranges) b USING (pair, b_n)
  WHERE stop > start
)
SELECT array_agg(pair) AS pair, array_agg(a_count) AS "aCount", array_agg(a_section) AS "aSection", array_agg(b_section) AS "bSection",
  array_agg(start) AS start, array_agg(stop) AS stop, array_agg(a_part)::text[] AS "aPart", array_agg(a_shift) AS "aShift",
  array_agg(b_part)::text[] AS "bPart", array_agg(b_shift) AS "bShift"
FROM spans JOIN pairs USING (pair)`;

/** Consecutive positions of two paired sections, each of which has one range there, or none. Of a pair, and of each span, as columns. */
export interface Spans {
  readonly pair: readonly number[];
  readonly aCount: readonly (number | null)[];
  readonly aSection: readonly (number | null)[];
  readonly bSection: readonly (number | null)[];
  readonly start: readonly number[];
  readonly stop: readonly number[];
  readonly aPart: readonly (string | null)[];
  /** What an ordinal is more than the position. */
  readonly aShift: readonly (number | null)[];
  readonly bPart: readonly (string | null)[];
  readonly bShift: readonly (number | null)[];
}

/**
 * The differences in spans. Rows of
 *
 * - `counts`: what is added, removed and changed;
 * - `section`: a pair of sections that differ, and 1 as its kind if their paired items are in another order, at most 1,000;
 * - `entry`: after $2 to $4 (kind, and order indexes), at most $5, of kind $1 (-1 for all).
 *
 * Items of stored ranges that both sections have at one position are not read. Of the others, those of one position and one
 * hash are the same, and the rest is paired by id, hash and prompt: docs/versions.md. Each join is a FULL JOIN where both sides
 * can be large, so that none is a nested loop.
 */
export function differencesIn(spans: Spans, { add }: Parameters): string {
  const { pair, aCount, aSection, bSection, start, stop, aPart, aShift, bPart, bShift } = spans;
  const integers = (values: readonly (number | null)[]): string => `${add(values)}::int[]`;
  const uuids = (values: readonly (string | null)[]): string => `${add(values)}::uuid[]`;
  const pairs = integers(pair);
  const isDiffering = (_: unknown, span: number): boolean =>
    aPart[span] !== bPart[span] || aShift[span] !== bShift[span];
  const differing = {
    a: add(partsOf(aPart.filter(isDiffering))),
    b: add(partsOf(bPart.filter(isDiffering))),
  };
  return `
WITH spans AS MATERIALIZED (
  SELECT *, (a_part, a_shift) IS DISTINCT FROM (b_part, b_shift) AS differs
  FROM unnest(${pairs}, ${integers(start)}, ${integers(stop)}, ${uuids(aPart)}, ${integers(aShift)}, ${uuids(bPart)}, ${integers(bShift)})
    WITH ORDINALITY AS span (pair, start, stop, a_part, a_shift, b_part, b_shift, span)
), pairs AS MATERIALIZED (
  SELECT DISTINCT * FROM unnest(${pairs}, ${integers(aCount)}, ${integers(aSection)}, ${integers(bSection)}) AS pair (pair, a_count, a_section, b_section)
), placed AS MATERIALIZED (
  SELECT pair, item, a.hash AS a_hash, a.id AS a_id, a.span AS a_span, b.hash AS b_hash, b.id AS b_id, b.span AS b_span
  FROM ${itemsOfSide('a', 'differs', differing.a)} a FULL JOIN ${itemsOfSide('b', 'differs', differing.b)} b USING (pair, item)
  WHERE a.hash IS DISTINCT FROM b.hash
), a_ids AS MATERIALIZED (
  SELECT pair, a_id AS id, min(item) AS item, count(*) AS times FROM placed WHERE a_id IS NOT NULL GROUP BY pair, a_id
), stored AS MATERIALIZED (
  SELECT pair, item, id FROM ${itemsOfSide('a', PARTLY_PLACED, add(partsOf(spans.aPart)))} stored WHERE id IS NOT NULL
), taken AS MATERIALIZED (
  SELECT pair, id FROM a_ids WHERE times > 1
  UNION SELECT pair, b_id FROM placed WHERE b_id IS NOT NULL GROUP BY pair, b_id HAVING count(*) > 1
  UNION SELECT pair, id FROM a_ids JOIN stored USING (pair, id) WHERE stored.item <> a_ids.item
), by_id AS MATERIALIZED (
  SELECT pair, a.item AS a_item, a.hash AS a_hash, a.span AS a_span, b.item AS b_item, b.hash AS b_hash, b.span AS b_span
  FROM ${withUniqueId('a')} a FULL JOIN ${withUniqueId('b')} b USING (pair, id)
), by_hash AS MATERIALIZED (
  SELECT pair, hash, a.item AS a_item, a.span AS a_span, b.item AS b_item, b.span AS b_span
  FROM ${unpairedById('a')} a FULL JOIN ${unpairedById('b')} b USING (pair, hash, n)
), unpaired AS MATERIALIZED (
  SELECT pair FROM by_hash WHERE b_item IS NULL INTERSECT SELECT pair FROM by_hash WHERE a_item IS NULL
), a_prompts AS MATERIALIZED (${promptsOfSide('a', differing.a)}), b_prompts AS MATERIALIZED (${promptsOfSide('b', differing.b)}),
by_prompt AS MATERIALIZED (
  SELECT pair, a.item AS a_item, b.item AS b_item
  FROM ${withPrompt('a')} a FULL JOIN ${withPrompt('b')} b USING (pair, prompt, n)
), matched AS MATERIALIZED (
  SELECT pair, a_item, b_item, a_hash = b_hash AS same FROM by_id WHERE a_item IS NOT NULL AND b_item IS NOT NULL
  UNION ALL SELECT pair, a_item, b_item, true FROM by_hash WHERE a_item IS NOT NULL AND b_item IS NOT NULL
  UNION ALL SELECT pair, a_item, b_item, false FROM by_prompt WHERE a_item IS NOT NULL AND b_item IS NOT NULL
), changes AS MATERIALIZED (
  SELECT CASE WHEN a_item IS NULL THEN 0 ELSE 1 END AS kind, a_section, a_item, b_section, b_item
  FROM by_prompt JOIN pairs USING (pair) WHERE a_item IS NULL OR b_item IS NULL
  UNION ALL SELECT 2, a_section, a_item, b_section, b_item FROM matched JOIN pairs USING (pair) WHERE NOT same
), shifted AS MATERIALIZED (
  SELECT DISTINCT pair FROM matched WHERE a_item <> b_item
), islands AS MATERIALIZED (
  SELECT pair, item, item - row_number() OVER (PARTITION BY pair ORDER BY item) AS island FROM placed JOIN shifted USING (pair)
), orders AS (
  SELECT pair, bool_or(b_item < before OR a_island <> b_island) AS has_changed FROM (
    SELECT matched.pair, b_item, a.island AS a_island, b.island AS b_island,
      lag(b_item) OVER (PARTITION BY matched.pair ORDER BY a_item) AS before
    FROM matched JOIN islands a ON a.pair = matched.pair AND a.item = a_item
      JOIN islands b ON b.pair = matched.pair AND b.item = b_item
  ) matched GROUP BY pair
)
SELECT 'counts' AS what, count(*) FILTER (WHERE kind = 0) AS added, count(*) FILTER (WHERE kind = 1) AS removed,
  count(*) FILTER (WHERE kind = 2) AS changed, NULL::int AS kind,
  NULL::int AS a_section, NULL::int AS a_item, NULL::int AS b_section, NULL::int AS b_item
FROM changes
UNION ALL (SELECT 'section', NULL, NULL, NULL, coalesce(has_changed, false)::int, a_section, NULL, b_section, NULL
  FROM pairs LEFT JOIN orders USING (pair) WHERE a_section IS NOT NULL AND b_section IS NOT NULL ORDER BY b_section LIMIT ${MAX_SECTIONS})
UNION ALL (SELECT 'entry', NULL, NULL, NULL, kind, a_section, a_item, b_section, b_item FROM changes
  WHERE ($1::int = -1 OR kind = $1)
    AND (kind, CASE WHEN kind = 1 THEN a_section ELSE b_section END, coalesce(b_item, a_item)) > ($2::int, $3::int, $4::int)
  ORDER BY kind, CASE WHEN kind = 1 THEN a_section ELSE b_section END, coalesce(b_item, a_item) LIMIT $5)`;
}

type Side = 'a' | 'b';

/** The ranges of the sections of a side, and one without a part behind the last of each. */
function rangesOfSide(side: Side): string {
  return `
  SELECT pair, range.n, range.part_id, range.start, range.first - range.start AS shift
  FROM pairs JOIN sections s ON s.id = pairs.${side}_section_id
    CROSS JOIN LATERAL unnest(s.part_ids, s.starts, s.firsts) WITH ORDINALITY AS range (part_id, start, first, n)
  UNION ALL SELECT pair, cardinality(s.part_ids) + 1, NULL, s.item_count, NULL FROM pairs JOIN sections s ON s.id = pairs.${side}_section_id
`;
}

function itemsOfSide(side: Side, condition: string, parts: string): string {
  const hashed = `'sha256 ' || encode(sha256(convert_to(item_id, 'UTF8')), 'hex')`;
  return `(SELECT pair, ordinal - ${side}_shift AS item, hash, id, span
    FROM (SELECT * FROM spans WHERE ${side}_part IS NOT NULL AND ${condition} ORDER BY span) span CROSS JOIN LATERAL (
      SELECT ordinal, item_hash AS hash,
        CASE WHEN octet_length(item_id) > ${MAX_ID_BYTES} THEN ${hashed} ELSE item_id END COLLATE "C" AS id
      FROM items i WHERE ${ofParts(parts)} AND i.part_id = ${side}_part
        AND i.ordinal >= start + ${side}_shift AND i.ordinal < stop + ${side}_shift ORDER BY ordinal
    ) i)`;
}

/**
 * The placed items of a side, with their ids where those are unique. The others get a key that the other side lacks: a FULL JOIN
 * would compare all rows whose keys are null with one another.
 */
function withUniqueId(side: Side): string {
  return `(SELECT placed.pair, item, ${side}_span AS span, ${side}_hash AS hash,
      CASE WHEN taken.id IS NULL AND ${side}_id IS NOT NULL THEN ${side}_id ELSE '${side}' || item END AS id
    FROM placed LEFT JOIN taken ON taken.pair = placed.pair AND taken.id = ${side}_id WHERE ${side}_hash IS NOT NULL)`;
}

/** The items of a side that have no pair by their id; equal ones numbered. */
function unpairedById(side: Side): string {
  return `(SELECT pair, ${side}_hash AS hash, ${side}_item AS item, ${side}_span AS span,
      row_number() OVER (PARTITION BY pair, ${side}_hash ORDER BY ${side}_item) AS n
    FROM by_id WHERE ${side === 'a' ? 'b' : 'a'}_item IS NULL)`;
}

function promptsOfSide(side: Side, parts: string): string {
  return `
  SELECT pair, item, prompt FROM (
    SELECT pair, ${side}_item AS item, ${side}_part AS part_id, ${side}_item + ${side}_shift AS ordinal
    FROM by_hash JOIN unpaired USING (pair) JOIN spans USING (pair)
    WHERE span = ${side}_span AND ${side === 'a' ? 'b' : 'a'}_item IS NULL ORDER BY pair, ${side}_item
  ) place CROSS JOIN LATERAL ${promptOf(`${ofParts(parts)} AND i.part_id = place.part_id AND i.ordinal = place.ordinal`)} AS stored
`;
}

/** What is left of a side, with the hash of its prompt, or else a key that the other side lacks; equal ones numbered. */
function withPrompt(side: Side): string {
  return `(SELECT pair, item, prompt, row_number() OVER (PARTITION BY pair, prompt ORDER BY item) AS n FROM (
    SELECT by_hash.pair, ${side}_item AS item, coalesce(prompt, convert_to('${side}' || ${side}_item, 'UTF8')) AS prompt
    FROM by_hash LEFT JOIN ${side}_prompts AS prompts ON prompts.pair = by_hash.pair AND prompts.item = ${side}_item
    WHERE ${side === 'a' ? 'b' : 'a'}_item IS NULL
  ) remaining)`;
}
