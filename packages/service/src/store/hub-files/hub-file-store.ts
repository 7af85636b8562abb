import type pg from 'pg';
import type { ByteRange } from '../assets/asset-store.ts';
import { AssetWriter } from '../assets/asset-writer.ts';
import { unchecked } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { isUuid } from '../database/values.ts';
import { inTransaction } from '../postgres/pool.ts';
import { createReadQuery, createReads } from '../postgres/read-query.ts';
import {
  addProfiles,
  findProfiles,
  lineSizes,
  openLines,
  ranges,
  readContents,
  readItems,
} from './hub-items.ts';

export interface LayoutKey {
  readonly datasetId: string;
  readonly version: number;
  /** Identifies the code that makes the bytes: files of another format are made again. */
  readonly format: string;
}

export interface HubFile {
  /** Within the repository. */
  readonly path: string;
  readonly sectionId: string;
  /** Position in the section of its first item. */
  readonly firstItem: number;
  readonly itemCount: number;
  /** Items of each group, in the order of the file, and bytes of their lines. */
  readonly groupItems: readonly number[];
  readonly groupBytes: readonly number[];
  /** Null for a table that was never made. */
  readonly byteLength: number | null;
  /** Entity tag, 64 hex digits: of a table, the SHA-256 of its bytes. Null for a table that was never made. */
  readonly tag: string | null;
}

export type ListedHubFile = Pick<HubFile, 'path' | 'byteLength' | 'tag'>;

export interface MadeTable {
  readonly path: string;
  /** SHA-256 of what it was made from, 64 hex digits. */
  readonly source: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, 64 hex digits. */
  readonly sha256: string;
}

export interface SectionFiles {
  readonly sectionId: string;
  readonly tableCount: number;
  /** Of its lines. */
  readonly lineBytes: number;
}

/** What kept tables may take. */
export interface HubFileLimits {
  /** Tables that were not read for so long are removed. */
  readonly days: number;
  readonly bytes: number;
}

const OF_KEY = 'f.dataset_id = $1 AND f.version = $2 AND f.format = $3';
const LISTED_COLUMNS = `f.path, f.byte_length::float8 AS "byteLength", encode(f.tag, 'hex') AS tag`;
const FILE_COLUMNS = `${LISTED_COLUMNS}, f.section_id AS "sectionId", f.first_item AS "firstItem", f.item_count AS "itemCount",
  f.group_items AS "groupItems", f.group_bytes AS "groupBytes"`;

/** A table that was asked for within this time is being read: clients that take longer for a piece are cut off. */
const READING_SECONDS = 300;
/** How often the time is noted. */
const TOUCH_SECONDS = 30;

/**
 * The files of datasets as clients of the hub read them, and the items that they are made of. Tables are made once and
 * kept as assets; lines are read from the items. Every method throws StoreError `unavailable`.
 */
export type HubFileStore = ReturnType<typeof createHubFileStore>;

export const createHubFileStore = (context: StoreContext) =>
  unchecked(context, {
    ...{ findColumns, setColumns, add, find, list, sections, unmade, reuse, keep, read, collect, quiet },
    ...{ openLines, findProfiles, addProfiles, ranges, lineSizes, readItems, readContents },
  });

/** The columns of the tables of a layout, JSON text; null before they are known, undefined before the layout is there. */
async function findColumns({ pool }: StoreContext, key: LayoutKey, signal?: AbortSignal) {
  const [row] = await createReadQuery(pool, signal)<{ columns: string | null }>(
    `SELECT columns FROM hub_layouts f WHERE ${OF_KEY}`,
    keyValues(key),
  );
  return row?.columns;
}

async function setColumns({ pool }: StoreContext, key: LayoutKey, columns: string): Promise<void> {
  await pool.query(`UPDATE hub_layouts f SET columns = $4 WHERE ${OF_KEY} AND columns IS NULL`, [
    ...keyValues(key),
    columns,
  ]);
}

/** Adds a layout unless it is there; other formats go after a day. @throws StoreError `dataset_not_found` */
async function add({ pool }: StoreContext, key: LayoutKey, files: readonly HubFile[]): Promise<void> {
  if (!isUuid(key.datasetId)) throw datasetNotFound(key.datasetId);
  try {
    await inTransaction(pool, (client) => addLayout(client, key, files));
  } catch (error) {
    // The version was deleted.
    if ((error as { code?: unknown }).code === '23503') throw datasetNotFound(key.datasetId);
    throw error;
  }
}

/** Those of these paths that exist, in the order of their paths, and whether their bytes are there. */
async function find({ pool }: StoreContext, key: LayoutKey, paths: readonly string[], signal?: AbortSignal) {
  return await createReadQuery(pool, signal)<HubFile & { readonly isKept: boolean }>(
    `SELECT ${FILE_COLUMNS}, EXISTS (SELECT FROM hub_contents c WHERE c.sha256 = f.tag) AS "isKept"
     FROM hub_files f WHERE ${OF_KEY} AND path = ANY ($4) ORDER BY path COLLATE "C"`,
    [...keyValues(key), paths],
  );
}

/** Files in the order of their paths, as bytes. @param folder with a slash at its end; empty for all */
async function list(
  { pool }: StoreContext,
  key: LayoutKey,
  { folder, after, limit }: { readonly folder: string; readonly after: string; readonly limit: number },
  signal?: AbortSignal,
) {
  return await createReadQuery(pool, signal)<ListedHubFile>(
    `SELECT ${LISTED_COLUMNS} FROM hub_files f WHERE ${OF_KEY} AND starts_with(path, $4)
       AND path COLLATE "C" > $5 ORDER BY path COLLATE "C" LIMIT $6`,
    [...keyValues(key), folder, after, limit],
  );
}

async function sections({ pool }: StoreContext, key: LayoutKey, signal?: AbortSignal) {
  return await createReadQuery(pool, signal)<SectionFiles>(
    `SELECT section_id AS "sectionId",
       (count(*) FILTER (WHERE starts_with(path, 'data/')))::float8 AS "tableCount",
       coalesce(sum(byte_length) FILTER (WHERE starts_with(path, 'items/')), 0)::float8 AS "lineBytes"
     FROM hub_files f WHERE ${OF_KEY} GROUP BY section_id`,
    keyValues(key),
  );
}

/** Some tables that were never made, in the order of their paths. */
async function unmade({ pool }: StoreContext, key: LayoutKey, limit: number, signal?: AbortSignal) {
  const rows = await createReadQuery(pool, signal)<{ path: string }>(
    `SELECT path FROM hub_files f WHERE ${OF_KEY} AND byte_length IS NULL ORDER BY path COLLATE "C" LIMIT $4`,
    [...keyValues(key), limit],
  );
  return rows.map(({ path }) => path);
}

/** Uses tables of other layouts that were made from the same. @returns the paths of those that are there now */
async function reuse(
  { pool }: StoreContext,
  key: LayoutKey,
  tables: readonly Pick<MadeTable, 'path' | 'source'>[],
) {
  const { rows } = await pool.query<{ path: string }>(
    `UPDATE hub_files f SET byte_length = made.byte_length, tag = made.tag, source = made.source
     FROM (SELECT DISTINCT ON (wanted.path) wanted.path, o.byte_length, o.tag, o.source
       FROM unnest($4::text[], $5::text[]) AS wanted (path, source)
         JOIN hub_files o ON o.source = decode(wanted.source, 'hex')
         JOIN hub_contents c ON c.sha256 = o.tag) AS made
     WHERE ${OF_KEY} AND f.path = made.path RETURNING f.path`,
    [...keyValues(key), tables.map(({ path }) => path), tables.map(({ source }) => source)],
  );
  return new Set(rows.map(({ path }) => path));
}

/** Keeps tables, all or none. @throws what the store of assets throws */
async function keep(
  { pool, assets }: StoreContext,
  key: LayoutKey,
  tables: readonly MadeTable[],
  signal?: AbortSignal,
) {
  const writer = new AssetWriter(assets, signal);
  writer.add(tables.map(({ sha256, bytes }) => ({ sha256, bytes, mimeType: null })));
  const columns = [
    tables.map(({ path }) => path),
    tables.map(({ source }) => source),
    tables.map(({ sha256 }) => sha256),
    tables.map(({ bytes }) => bytes.byteLength),
  ];
  await inTransaction(pool, async (client) => {
    await writer.storeContents(client);
    await client.query(INSERT_CONTENTS, columns.slice(2));
    await client.query(
      `UPDATE hub_files f SET byte_length = made.bytes, tag = decode(made.sha256, 'hex'),
         source = decode(made.source, 'hex')
       FROM unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) AS made (path, source, sha256, bytes)
       WHERE ${OF_KEY} AND f.path = made.path`,
      [...keyValues(key), ...columns],
    );
  });
}

/** Bytes of a kept table, which is not removed while it is read. @throws StoreError `asset_missing` */
async function* read({ pool, assets }: StoreContext, sha256: string, range: ByteRange, signal?: AbortSignal) {
  await pool.query(TOUCH, [sha256]);
  for await (const piece of assets.read(createReads(pool, signal), sha256, range, signal)) {
    yield piece;
    await pool.query(TOUCH, [sha256]);
  }
}

/** Removes tables that are too old, too many, or of no version any more. @returns how many */
async function collect({ pool }: StoreContext, { days, bytes }: HubFileLimits): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM hub_contents WHERE sha256 IN (
       SELECT sha256 FROM (
         SELECT sha256, used_at, sum(byte_length) OVER (ORDER BY used_at DESC, sha256) AS total FROM hub_contents
       ) AS c
       WHERE used_at < clock_timestamp() - ${READING_SECONDS} * interval '1 second'
         AND (total > $1 OR used_at < clock_timestamp() - $2 * interval '1 day'
           OR NOT EXISTS (SELECT FROM hub_files f WHERE f.tag = c.sha256)))`,
    [bytes, days],
  );
  return rowCount ?? 0;
}

/** Waits until this process imports and exports nothing. */
async function quiet({ imports, exports }: StoreContext, signal: AbortSignal): Promise<void> {
  await imports.idle(signal);
  await exports.idle(signal);
}

const TOUCH = `UPDATE hub_contents SET used_at = clock_timestamp()
  WHERE sha256 = decode($1, 'hex') AND used_at < clock_timestamp() - ${TOUCH_SECONDS} * interval '1 second'`;

const INSERT_CONTENTS = `INSERT INTO hub_contents (sha256, byte_length)
  SELECT DISTINCT decode(sha256, 'hex'), bytes FROM unnest($1::text[], $2::bigint[]) AS made (sha256, bytes)
  ORDER BY 1 ON CONFLICT (sha256) DO UPDATE SET used_at = clock_timestamp()`;

async function addLayout(client: pg.ClientBase, key: LayoutKey, files: readonly HubFile[]): Promise<void> {
  const { rowCount } = await client.query(
    'INSERT INTO hub_layouts (dataset_id, version, format) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    keyValues(key),
  );
  if (rowCount === 0) return;
  await client.query(
    `INSERT INTO hub_files (dataset_id, version, format, path, section_id, first_item, item_count, byte_length, tag,
       group_items, group_bytes)
     SELECT $1, $2, $3, path, section_id, first_item, item_count, byte_length, decode(tag, 'hex'), items::int[], bytes::int[]
     FROM unnest($4::text[], $5::uuid[], $6::int[], $7::int[], $8::bigint[], $9::text[], $10::text[], $11::text[])
       AS file (path, section_id, first_item, item_count, byte_length, tag, items, bytes)`,
    [
      ...keyValues(key),
      ...(['path', 'sectionId', 'firstItem', 'itemCount', 'byteLength', 'tag'] as const).map((name) =>
        files.map((file) => file[name]),
      ),
      ...(['groupItems', 'groupBytes'] as const).map((name) =>
        files.map((file) => `{${file[name].join(',')}}`),
      ),
    ],
  );
  await client.query(
    `DELETE FROM hub_layouts WHERE dataset_id = $1 AND version = $2 AND format <> $3
       AND created_at < clock_timestamp() - interval '1 day'`,
    keyValues(key),
  );
}

const keyValues = ({ datasetId, version, format }: LayoutKey): unknown[] => [datasetId, version, format];
