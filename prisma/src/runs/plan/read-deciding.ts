import type { RunSelection } from '@svc/evaluation';
import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { isUuid, memberText, readableJson } from '../../database/values.ts';
import { cutRange, type ItemPlace, itemsAt, itemsInRanges } from '../../items/item-ranges.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { splitRanges } from '../../versions/ranges.ts';
import { selectRanges } from './select-items.ts';

/** Which items a run would have. */
export interface SelectionRequest {
  readonly datasetId: string;
  readonly version: number;
  /** Null for all items. */
  readonly selection: RunSelection | null;
  readonly signal: AbortSignal;
}

/** Items that one statement reads. */
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
