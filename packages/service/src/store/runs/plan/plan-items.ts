import type { ItemParts } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { RunItem, RunSelection } from '../../../evaluation/index.ts';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { insideJsonString, isUuid, memberText, readableJson, searchableText } from '../../database/values.ts';
import {
  cutRange,
  type ItemPlace,
  type ItemPosition,
  itemsAt,
  itemsInRanges,
  ofVersion,
  readRanges,
  type SectionRange,
} from '../../items/item-ranges.ts';
import { planItems, readPlannedItems } from '../../items/read-item-texts.ts';
import { createReadQuery, type ReadQuery, readFrom, SNAPSHOT } from '../../postgres/read-query.ts';
import { splitRanges } from '../../versions/ranges.ts';
import { joinItems, readCandidatesAt, readJoinedVersion } from '../read-items-at.ts';
import { toRunItem } from '../read-run-items.ts';
import type { VersionOfRun } from '../run-row.ts';

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

/**
 * The items of {@link selectItems} as ranges, which can be read a part at a time. They pass the conditions on the row `i` of
 * `items`: what is sampled is what has no larger rank than the last of the sample.
 */
async function selectRanges(
  query: ReadQuery,
  version: { readonly datasetId: string; readonly version: number | null },
  selection: RunSelection,
) {
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

export interface SelectionRequest {
  readonly datasetId: string;
  readonly version: number;
  /** Null for all items. */
  readonly selection: RunSelection | null;
  readonly signal: AbortSignal;
}

const ITEMS_PER_QUERY = 2_000;
/** Bytes of the texts of one statement: each item may have an equal share at once; longer ones are read apart. */
const QUERY_BYTES = 8 * 1024 * 1024;

const isType = (value: string, type: string): string => `json_typeof(${value}) = '${type}'`;
const objectOf = (value: string): string =>
  `CASE WHEN ${isType(value, 'object')} THEN ${value} ELSE '{}' END`;
const textOf = (value: string): string => `coalesce(${memberText(value)}, 'null')`;

/**
 * A message in place of those of an item without a prompt: files count as one, because whether a provider takes them
 * is known only where they are sent.
 */
const MESSAGES = `CASE
    WHEN ${isType('inputs.prompt', 'string')} THEN 'null'
    WHEN i.assets IS NOT NULL AND i.assets::text NOT IN ('null', '[]', '{}') THEN '[{"role":"user"}]'
    WHEN inputs.messages IS NULL THEN 'null'
    WHEN EXISTS (SELECT FROM json_array_elements(inputs.messages) AS message
      WHERE coalesce(message ->> 'role' NOT IN ('system', 'developer'), true)) THEN '[{"role":"user"}]'
    WHEN json_array_length(inputs.messages) > 0 THEN '[{"role":"system"}]'
    ELSE 'null' END`;

/** The parts of the row `i` of `items` that decide how its outputs are scored. It decides nothing itself. */
const DECIDING = `'{"criteria":' || CASE WHEN ${isType('payload.criteria', 'array')} AND json_array_length(payload.criteria) > 0
      THEN '[null]' ELSE '[]' END
    || ',"inputs":{"choices":' || ${textOf('inputs.choices')} || ',"messages":' || ${MESSAGES}
    || ',"prompt":' || CASE WHEN ${isType('inputs.prompt', 'string')} THEN '""' ELSE 'null' END
    || '},"meta":{"judge_prompt":' || ${textOf('meta.judge_prompt')} || '},"type":"' || i.type || '"}' AS payload,
  i.answer::text AS answer, i.checker::text AS checker`;
const MEMBERS = `CROSS JOIN LATERAL json_to_record(${readableJson('i.payload')}) AS payload (criteria json, inputs json, meta json)
  CROSS JOIN LATERAL json_to_record(${objectOf('payload.inputs')}) AS inputs (choices json, messages json, prompt json)
  CROSS JOIN LATERAL json_to_record(${objectOf('payload.meta')}) AS meta (judge_prompt json)`;

/** Parts of an item; where they are and their size if they are long. */
type Row = Omit<ItemParts, 'assets'> & {
  readonly byteLength: number | null;
  readonly partId: string | null;
  readonly ordinal: number | null;
};

/**
 * What decides how the items that a run would have are scored: of each, the parts without what does not matter for that,
 * such as texts of prompts. It reads pages as they are taken; between them, it holds no connection.
 */
export async function* readDeciding(
  { pool, searches }: StoreContext,
  { datasetId, version, selection, signal }: SelectionRequest,
): AsyncGenerator<readonly ItemParts[], void, undefined> {
  if (!isUuid(datasetId)) return;
  const query: ReadQuery = async (sql, values) => {
    using _permit = await searches.acquire(signal);
    return await createReadQuery(pool, signal)(sql, values);
  };
  const { ranges, conditions, values } = await selectRanges(query, { datasetId, version }, selection ?? {});
  for (const page of splitRanges(ranges, ITEMS_PER_QUERY, cutRange)) {
    const parameters = new Parameters(values);
    const items = itemsInRanges(page, parameters, conditions);
    const share = Math.floor(QUERY_BYTES / ITEMS_PER_QUERY);
    const isShort =
      'octet_length(payload) + coalesce(octet_length(answer), 0) + coalesce(octet_length(checker), 0)';
    const shown = ['payload', 'answer', 'checker'].map(
      (name) => `CASE WHEN size <= ${share} THEN ${name} END AS ${name}`,
    );
    const rows = await query<Row>(
      `SELECT ${shown.join(', ')}, CASE WHEN size > ${share} THEN size END AS "byteLength",
         CASE WHEN size > ${share} THEN part_id END AS "partId", CASE WHEN size > ${share} THEN ordinal END AS ordinal
       FROM (SELECT *, ${isShort} AS size FROM (
         SELECT ${DECIDING}, i.part_id, i.ordinal FROM ${items} i ${MEMBERS}) AS i OFFSET 0) AS i`,
      parameters.values,
    );
    const short = rows.filter(({ partId }) => partId === null);
    if (short.length > 0) yield short.map(toParts);
    for (const places of groupsOf(rows)) {
      const at = new Parameters();
      const long = await query<Row>(`SELECT ${DECIDING} FROM ${itemsAt(places, at)} ${MEMBERS}`, at.values);
      yield long.map(toParts);
    }
  }
}

const toParts = ({ payload, answer, checker }: Row): ItemParts => ({
  payload,
  answer,
  checker,
  assets: null,
});

/** The places of long items, as many together as a statement may read, or one. */
function* groupsOf(rows: readonly Row[]): Generator<readonly ItemPlace[]> {
  let places: ItemPlace[] = [];
  let bytes = 0;
  for (const { byteLength, partId, ordinal } of rows) {
    if (byteLength === null || partId === null || ordinal === null) continue;
    if (places.length > 0 && bytes + byteLength > QUERY_BYTES) {
      yield places;
      places = [];
      bytes = 0;
    }
    places.push({ partId, ordinal });
    bytes += byteLength;
  }
  if (places.length > 0) yield places;
}

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
export async function countReusable({ pool, searches }: StoreContext, request: ReuseRequest) {
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
