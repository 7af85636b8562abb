import type pg from 'pg';
import { seesDataset } from '../audit/actor.ts';
import { Parameters } from '../database/page.ts';
import { divideByBlocks, foundByHash } from '../items/hash-blocks.ts';
import { itemsInRanges, readRanges, readRangesOf } from '../items/item-ranges.ts';
import { queryOf, type ReadQuery } from '../postgres/read-query.ts';
import type { ImportedResult } from '../runs/write/insert-results.ts';
import { toSectionRanges } from '../versions/ranges.ts';
import type { DraftHashes } from './draft-content.ts';

/** The newest datasets whose items are compared with the items of a run. */
const MAX_DATASETS = 500;
/** The datasets with its first item, which are compared as a whole. */
const MAX_CANDIDATES = 3;
/** Bytes of a position: section and item. */
const POSITION_BYTES = 8;

export interface Home {
  readonly id: string;
  readonly version: number;
  readonly versionHash: string;
  readonly itemCount: number;
  /** Places results that name the sections and items of the draft. */
  place(results: AsyncIterable<readonly ImportedResult[]>): AsyncIterable<readonly ImportedResult[]>;
}

type Version = Omit<Home, 'place'>;

const VERSION = `v.dataset_id AS id, v.version, v.version_hash AS "versionHash", v.item_count AS "itemCount"`;

/** SQL for the hash of a row `i` of a draft's items: that which its id states, if it may. */
const hashOf = (idsAreHashes: boolean): string =>
  idsAreHashes
    ? `CASE WHEN i.item_id ~ '^"[0-9a-f]{64}"$' THEN decode(substr(i.item_id, 2, 64), 'hex') ELSE i.item_hash END`
    : 'i.item_hash';

/** Finds, among those that the key sees, the same dataset as a run's draft, or the newest that has all its items. */
export async function findHome(
  client: pg.ClientBase,
  { versionHash, sections }: DraftHashes,
  idsAreHashes: boolean,
): Promise<Home | null> {
  const same = await client.query<Version>(
    `SELECT ${VERSION} FROM versions v WHERE v.version_hash = $1 AND ${seesDataset('v.dataset_id') ?? 'true'} ORDER BY v.created_at LIMIT 1`,
    [versionHash],
  );
  const [equal] = same.rows;
  if (equal !== undefined) return { ...equal, place: (results) => results };
  for (const candidate of await findCandidates(client, sections, idsAreHashes)) {
    const parameters = new Parameters();
    const wanted = itemsOfDraft(sections, idsAreHashes, parameters);
    const place = await findPositions(queryOf(client), candidate, sections, parameters, wanted);
    if (place !== null) return { ...candidate, place };
  }
  return null;
}

async function findCandidates(
  client: pg.ClientBase,
  sections: DraftHashes['sections'],
  idsAreHashes: boolean,
): Promise<readonly Version[]> {
  const [first] = sections.flatMap(({ parts }) => parts);
  if (first === undefined) return [];
  const { rows } = await client.query<{ hash: string }>(
    `SELECT encode(${hashOf(idsAreHashes)}, 'hex') AS hash FROM items i WHERE part_id = $1 AND ordinal = 0`,
    [first.partId],
  );
  const [row] = rows;
  if (row === undefined) return [];
  const newest = await client.query<Version & { readonly sectionIds: readonly string[] }>(
    `SELECT ${VERSION}, v.section_ids::text[] AS "sectionIds"
     FROM (SELECT id, version, created_at FROM datasets WHERE ${seesDataset('id') ?? 'true'} ORDER BY created_at DESC, id DESC LIMIT ${MAX_DATASETS}) d
       JOIN versions v ON v.dataset_id = d.id AND v.version = d.version ORDER BY d.created_at DESC, d.id DESC`,
  );
  const query = queryOf(client);
  const datasetOf = newest.rows.flatMap(({ sectionIds }, index) => sectionIds.map(() => index));
  const ranges = await readRangesOf(
    query,
    newest.rows.flatMap(({ sectionIds }) => sectionIds),
  );
  const parameters = new Parameters();
  const ofItem = `AND i.item_hash = decode(${parameters.add(row.hash)}, 'hex')`;
  const divided = await divideByBlocks(
    query,
    ranges.map((range) => ({ ...range, section: datasetOf[range.section] as number })),
  );
  const found = await query<{ readonly dataset: number }>(
    `SELECT DISTINCT section AS dataset FROM ${foundByHash(row.hash, ofItem, divided, parameters)} AS found
     ORDER BY section LIMIT ${MAX_CANDIDATES}`,
    parameters.values,
  );
  return found.map(({ dataset }) => newest.rows[dataset] as Version);
}

function itemsOfDraft(sections: DraftHashes['sections'], idsAreHashes: boolean, parameters: Parameters) {
  const items = itemsInRanges(toSectionRanges(sections.map(({ parts }) => parts)), parameters);
  return numbered(items, hashOf(idsAreHashes));
}

/** SQL for items with their hashes, equal ones numbered in their order. */
const numbered = (items: string, hash: string): string => `
  SELECT section, item, hash, row_number() OVER (PARTITION BY hash ORDER BY section, item) AS n
  FROM (SELECT i.section, i.order_index AS item, ${hash} AS hash FROM ${items} AS i) AS i`;

/**
 * Where the items of each section of a draft are in a version; null unless all are. Equal items are paired in their order.
 */
async function findPositions(
  query: ReadQuery,
  { id, version }: Pick<Version, 'id' | 'version'>,
  sections: DraftHashes['sections'],
  parameters: Parameters,
  wanted: string,
): Promise<Home['place'] | null> {
  const ofVersion = itemsInRanges(await readRanges(query, { datasetId: id, version }), parameters);
  const rows = await query<{ section: number; positions: Buffer; missing: string }>(
    `WITH wanted AS MATERIALIZED (${wanted}),
       there AS MATERIALIZED (${numbered(ofVersion, 'i.item_hash')})
     SELECT wanted.section, count(*) FILTER (WHERE there.item IS NULL) AS missing,
       string_agg(int4send(there.section) || int4send(there.item), ''::bytea ORDER BY wanted.item) AS positions
     FROM wanted LEFT JOIN there USING (hash, n) GROUP BY wanted.section`,
    parameters.values,
  );
  if (rows.some(({ missing }) => Number(missing) > 0)) return null;
  const names = await query<{ name: string }>(
    'SELECT name FROM version_sections WHERE dataset_id = $1 AND version = $2 ORDER BY order_index',
    [id, version],
  );
  const found = new Map(rows.map(({ section, positions }) => [section, positions]));
  return placer(
    // A section without items has no row.
    sections.map(({ orderIndex }) => found.get(orderIndex) ?? Buffer.alloc(0)),
    names.map(({ name }) => name),
  );
}

/** Keeps the hashes of a draft's items until the transaction ends: a change takes the items themselves. */
export async function keepItemHashes(client: pg.ClientBase, { sections }: DraftHashes): Promise<void> {
  const parameters = new Parameters();
  const items = itemsOfDraft(sections, false, parameters);
  await client.query('DROP TABLE IF EXISTS pg_temp.draft_items');
  await client.query(
    'CREATE TEMPORARY TABLE draft_items (section int, item int, hash bytea, n bigint) ON COMMIT DROP',
  );
  await client.query(`INSERT INTO pg_temp.draft_items ${items}`, parameters.values);
}

/** Places results of a draft whose hashes were kept in the version that was made of it. */
export async function placeInVersion(
  client: pg.ClientBase,
  version: Pick<Version, 'id' | 'version'>,
  { sections }: DraftHashes,
): Promise<Home['place']> {
  const wanted = 'SELECT section, item, hash, n FROM pg_temp.draft_items';
  const place = await findPositions(queryOf(client), version, sections, new Parameters(), wanted);
  if (place === null) throw new Error('A version lacks items that were added to it.');
  return place;
}

function placer(positions: readonly Buffer[], names: readonly string[]): Home['place'] {
  return async function* place(batches) {
    for await (const results of batches) {
      yield results.map((result) => {
        const at = POSITION_BYTES * result.orderIndex;
        const found = positions[result.sectionOrderIndex];
        const sectionOrderIndex = found?.readInt32BE(at) ?? 0;
        const orderIndex = found?.readInt32BE(at + 4) ?? 0;
        return { ...result, sectionOrderIndex, orderIndex, section: names[sectionOrderIndex] ?? '' };
      });
    }
  };
}
