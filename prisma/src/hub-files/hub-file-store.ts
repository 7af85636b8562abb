import { createReads, type ReadQuery } from '@svc/postgres';
import type { StoreContext } from '../context.ts';
import { copiedRows } from '../database/copy-format.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { StoreError, toStoreError } from '../database/errors.ts';
import { guarded } from '../database/guarded.ts';
import { itemTooLarge } from '../database/item-size.ts';
import { isUuid } from '../database/values.ts';
import { itemsInRanges, LITERALS, readRangesBetween } from '../items/item-ranges.ts';
import { asCopy, packedItems } from './packed-items.ts';

/** A layout: how the files of one version are made in one format. */
export interface LayoutKey {
  readonly datasetId: string;
  readonly version: number;
  /** Identifies the code that makes the bytes: files of another format are made again. */
  readonly format: string;
}

/** A file that can be made again, byte by byte. */
export interface HubFile {
  /** Within the repository. */
  readonly path: string;
  readonly sectionId: string;
  /** Position in the section of its first item. */
  readonly firstItem: number;
  readonly itemCount: number;
  readonly byteLength: number;
  /** Size of its table before compression. */
  readonly tableBytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
  /** Items and bytes of each group, in the order of the file. */
  readonly groupItems: readonly number[];
  readonly groupBytes: readonly number[];
  /** The bytes behind the groups. */
  readonly footer: Uint8Array;
}

/** What lists show of a file. */
export type ListedHubFile = Pick<HubFile, 'path' | 'byteLength' | 'sha256'>;

/** The files of a section, added up. */
export interface SectionFiles {
  readonly sectionId: string;
  readonly fileCount: number;
  readonly byteLength: number;
  readonly tableBytes: number;
}

/** An item that is about to be read. */
interface ItemRange {
  /** Name and id of the section. */
  readonly section: { readonly id: string; readonly name: string };
  /** Position of the first item, and that after the last one. */
  readonly from: number;
  readonly to: number;
}

/**
 * The files of datasets as clients of the hub read them: their layouts, and the items that they are made of. Every method
 * throws StoreError `unavailable`.
 */
export interface HubFileStore {
  /** The facts that the files of a version are made by, JSON text; null before all of them have a layout. */
  findColumns(key: LayoutKey, signal?: AbortSignal): Promise<string | null>;
  /**
   * Takes the making of a layout, unless it is made or another process makes it.
   *
   * @param claim UUID of the attempt @param leaseMs how long the claim holds
   * @throws StoreError `dataset_not_found` if the version is gone
   */
  claim(key: LayoutKey, claim: string, leaseMs: number): Promise<boolean>;
  /** Makes a claim hold longer. @returns whether it still holds */
  extend(key: LayoutKey, claim: string, leaseMs: number): Promise<boolean>;
  /** Gives a claim up, after an attempt that failed. */
  release(key: LayoutKey, claim: string): Promise<void>;
  /** Adds a file to a layout that is being made; a repetition changes nothing. */
  add(key: LayoutKey, file: HubFile): Promise<void>;
  /** Ends the making of a layout. Layouts of the version in other formats go when they are a day old. */
  finish(key: LayoutKey, claim: string, columns: string): Promise<void>;
  /** One file; null if there is none of this path. */
  find(key: LayoutKey, path: string, signal?: AbortSignal): Promise<HubFile | null>;
  /** Files in the order of their paths, as bytes. @param folder with a slash at its end; empty for all */
  list(
    key: LayoutKey,
    request: { readonly folder: string; readonly after: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<readonly ListedHubFile[]>;
  /** Those of these paths that exist. */
  findSome(key: LayoutKey, paths: readonly string[], signal?: AbortSignal): Promise<readonly ListedHubFile[]>;
  /** The tables of each section, added up. */
  sections(key: LayoutKey, folder: string, signal?: AbortSignal): Promise<readonly SectionFiles[]>;
  /**
   * Bytes of each item of a range with the files that it embeds.
   *
   * @throws StoreError `item_too_large`, `dataset_not_found` if an item is gone
   */
  itemSizes(range: ItemRange, signal?: AbortSignal): Promise<Float64Array>;
  /** The items of a range, for `unpackItems`. @throws StoreError `dataset_not_found` if the section is gone */
  readItems(range: ItemRange, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
  /** The contents of files by their hash. @throws StoreError `asset_missing` */
  readContents(
    files: readonly { readonly sha256: string; readonly byteLength: number }[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, Uint8Array>>;
}

const OF_KEY = 'dataset_id = $1 AND version = $2 AND format = $3';
const FILE_COLUMNS = `path, section_id AS "sectionId", first_item AS "firstItem", item_count AS "itemCount",
  byte_length::float8 AS "byteLength", table_bytes::float8 AS "tableBytes", encode(sha256, 'hex') AS sha256,
  group_items AS "groupItems", group_bytes AS "groupBytes", footer`;
const LISTED_COLUMNS = `path, byte_length::float8 AS "byteLength", encode(sha256, 'hex') AS sha256`;

/** Files up to this size are read together. */
const SMALL_BYTES = 64 * 1024;
const FILES_PER_QUERY = 256;

export function createHubFileStore(
  context: Pick<StoreContext, 'pool' | 'assets' | 'maxItemBytes'>,
): HubFileStore {
  const { pool } = context;
  const reads = (signal?: AbortSignal) => createReads(pool, signal);

  return guarded({
    async findColumns(key, signal) {
      const [row] = await reads(signal).query<{ columns: string | null }>(
        `SELECT columns FROM hub_layouts WHERE ${OF_KEY}`,
        keyValues(key),
      );
      return row?.columns ?? null;
    },

    async claim(key, claim, leaseMs) {
      if (!isUuid(key.datasetId)) throw datasetNotFound(key.datasetId);
      try {
        const { rowCount } = await pool.query(
          `INSERT INTO hub_layouts AS held (dataset_id, version, format, claim, claimed_till)
           VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond')
           ON CONFLICT (dataset_id, version, format) DO UPDATE
             SET claim = excluded.claim, claimed_till = excluded.claimed_till
             WHERE held.columns IS NULL AND held.claimed_till <= clock_timestamp()`,
          [...keyValues(key), claim, leaseMs],
        );
        return rowCount === 1;
      } catch (error) {
        // The version was deleted.
        if ((error as { code?: unknown }).code === '23503') throw datasetNotFound(key.datasetId);
        throw toStoreError(error);
      }
    },

    async extend(key, claim, leaseMs) {
      const { rowCount } = await pool.query(
        `UPDATE hub_layouts SET claimed_till = clock_timestamp() + $5 * interval '1 millisecond'
         WHERE ${OF_KEY} AND claim = $4 AND columns IS NULL`,
        [...keyValues(key), claim, leaseMs],
      );
      return rowCount === 1;
    },

    async release(key, claim) {
      await pool.query(
        `UPDATE hub_layouts SET claimed_till = clock_timestamp() WHERE ${OF_KEY} AND claim = $4 AND columns IS NULL`,
        [...keyValues(key), claim],
      );
    },

    async add(key, file) {
      await pool.query(
        `INSERT INTO hub_files (dataset_id, version, format, path, section_id, first_item, item_count, byte_length,
           table_bytes, sha256, group_items, group_bytes, footer)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
         WHERE EXISTS (SELECT FROM hub_layouts WHERE ${OF_KEY}) ON CONFLICT DO NOTHING`,
        [
          ...keyValues(key),
          ...[file.path, file.sectionId, file.firstItem, file.itemCount, file.byteLength, file.tableBytes],
          ...[Buffer.from(file.sha256, 'hex'), file.groupItems, file.groupBytes, Buffer.from(file.footer)],
        ],
      );
    },

    async finish(key, claim, columns) {
      await pool.query(
        `UPDATE hub_layouts SET columns = $5 WHERE ${OF_KEY} AND claim = $4 AND columns IS NULL`,
        [...keyValues(key), claim, columns],
      );
      await pool.query(
        `DELETE FROM hub_layouts WHERE dataset_id = $1 AND version = $2 AND format <> $3
           AND claimed_till < clock_timestamp() - interval '1 day'`,
        keyValues(key),
      );
    },

    async find(key, path, signal) {
      const [file] = await reads(signal).query<HubFile>(
        `SELECT ${FILE_COLUMNS} FROM hub_files WHERE ${OF_KEY} AND path = $4`,
        [...keyValues(key), path],
      );
      return file ?? null;
    },

    list: (key, { folder, after, limit }, signal) =>
      reads(signal).query<ListedHubFile>(
        `SELECT ${LISTED_COLUMNS} FROM hub_files WHERE ${OF_KEY} AND starts_with(path, $4)
           AND path COLLATE "C" > $5 ORDER BY path COLLATE "C" LIMIT $6`,
        [...keyValues(key), folder, after, limit],
      ),

    findSome: (key, paths, signal) =>
      reads(signal).query<ListedHubFile>(
        `SELECT ${LISTED_COLUMNS} FROM hub_files WHERE ${OF_KEY} AND path = ANY ($4) ORDER BY path COLLATE "C"`,
        [...keyValues(key), paths],
      ),

    sections: (key, folder, signal) =>
      reads(signal).query<SectionFiles>(
        `SELECT section_id AS "sectionId", count(*)::float8 AS "fileCount", sum(byte_length)::float8 AS "byteLength",
           sum(table_bytes)::float8 AS "tableBytes"
         FROM hub_files WHERE ${OF_KEY} AND starts_with(path, $4) GROUP BY section_id`,
        [...keyValues(key), folder],
      ),

    ...createItemReader(context),
  } satisfies HubFileStore);
}

/** What files are made of. */
function createItemReader({
  pool,
  assets,
  maxItemBytes,
}: Pick<StoreContext, 'pool' | 'assets' | 'maxItemBytes'>): Pick<
  HubFileStore,
  'itemSizes' | 'readItems' | 'readContents'
> {
  const reads = (signal?: AbortSignal) => createReads(pool, signal);
  return {
    async itemSizes({ section, from, to }, signal) {
      if (!isUuid(section.id)) throw sectionGone(section.name);
      // One value for all items: a row for each would fill the memory of young objects.
      const items = await itemsBetween(reads(signal).query, section.id, from, to);
      const chunks = await reads(signal).copy(
        `COPY (SELECT string_agg(float8send((i.byte_length + coalesce(i.linked_bytes, 0))::float8), ''::bytea ORDER BY i.order_index),
           min(i.order_index) FILTER (WHERE i.byte_length > ${maxItemBytes})
         FROM ${items} i) TO STDOUT (FORMAT binary)`,
      );
      const [row] = copiedRows(chunks);
      const bytes = row === undefined || row.isNull(0) ? Buffer.alloc(0) : row.view(0);
      if (bytes.byteLength !== 8 * (to - from)) throw sectionGone(section.name);
      if (row !== undefined && !row.isNull(1)) {
        throw itemTooLarge('Item', { section: section.name, orderIndex: row.int32(1) }, maxItemBytes);
      }
      return Float64Array.from({ length: to - from }, (_, index) => bytes.readDoubleBE(8 * index));
    },

    async readItems({ section, from, to }, signal) {
      if (!isUuid(section.id)) throw sectionGone(section.name);
      const items = await itemsBetween(reads(signal).query, section.id, from, to);
      const [row] = copiedRows(
        await reads(signal).copy(`COPY (SELECT ${packedItems()} FROM ${items} i) TO STDOUT (FORMAT binary)`),
      );
      if (row === undefined || row.isNull(0)) throw sectionGone(section.name);
      return asCopy(row.view(0));
    },

    async readContents(files, signal) {
      const contents = new Map<string, Uint8Array>();
      const small = files.filter(({ byteLength }) => byteLength <= SMALL_BYTES).map(({ sha256 }) => sha256);
      for (let first = 0; first < small.length; first += FILES_PER_QUERY) {
        const some = await assets.readSome(
          reads(signal),
          small.slice(first, first + FILES_PER_QUERY),
          signal,
        );
        for (const [sha256, bytes] of some) contents.set(sha256, bytes);
      }
      for (const { sha256, byteLength } of files) {
        if (contents.has(sha256)) continue;
        const bytes = new Uint8Array(byteLength);
        let at = 0;
        for await (const piece of assets.read(reads(signal), sha256, undefined, signal)) {
          bytes.set(piece, at);
          at += piece.byteLength;
        }
        contents.set(sha256, bytes);
      }
      return contents;
    },
  };
}

/** A subquery for the items of a section from one position up to another, for a COPY. */
async function itemsBetween(query: ReadQuery, sectionId: string, from: number, to: number): Promise<string> {
  return itemsInRanges(await readRangesBetween(query, sectionId, from, to), LITERALS);
}

const keyValues = ({ datasetId, version, format }: LayoutKey): unknown[] => [datasetId, version, format];

/** The dataset, or the version, was deleted while its items were read. */
const sectionGone = (name: string): StoreError =>
  new StoreError('dataset_not_found', `The section ${JSON.stringify(name.slice(0, 100))} is gone.`);
