import type pg from 'pg';
import { createAssetReader, wholeOf } from '../assets/read-ahead.ts';
import type { StoreContext } from '../context.ts';
import { copiedRows } from '../database/copy-format.ts';
import type { StoredSection } from '../database/dataset-row.ts';
import { guarded, guardedStream, StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import type { ItemLine } from '../items/item-lines.ts';
import {
  itemsInRanges,
  LITERALS,
  readRangesBetween,
  readRangesOf,
  type SectionRange,
} from '../items/item-ranges.ts';
import { openReadSession, READ_BY_KEY } from '../items/read-session.ts';
import { type CopyQuery, createReads, type ReadQuery, readFrom, SNAPSHOT } from '../postgres/read-query.ts';
import { asCopy, packedItems } from './packed-items.ts';
import { PROFILE_FORMAT, type StoredProfile } from './profile.ts';

/** Lines of a section at one moment, for as long as it is open: it holds a connection and a snapshot. */
export interface OpenLines extends AsyncDisposable {
  /** Bytes of each line from one position up to, not including, another. */
  sizes(from: number, to: number): Promise<Float64Array>;
  /** From one position up to, not including, another. To be read once. */
  between(from: number, to: number): AsyncGenerator<ItemLine[], void, undefined>;
}

/** The items that files are made of. */
export interface HubItems {
  /** @throws StoreError `dataset_not_found` if the section is gone */
  openLines(section: StoredSection, signal?: AbortSignal): Promise<OpenLines>;
  findProfiles(partIds: readonly string[], signal?: AbortSignal): Promise<readonly StoredProfile[]>;
  /** Adds profiles; those of parts that are gone are left out. */
  addProfiles(profiles: readonly StoredProfile[]): Promise<void>;
  /** Where the items of sections are: `section` of a range is the index of its id. */
  ranges(sectionIds: readonly string[], signal?: AbortSignal): Promise<readonly SectionRange[]>;
  /**
   * Bytes of the line of each item, with its line feed and the files that it embeds.
   *
   * @throws StoreError `item_too_large`, `dataset_not_found` if an item is gone
   */
  lineSizes(ranges: readonly SectionRange[], signal?: AbortSignal): Promise<Float64Array>;
  /** The items of ranges, for `unpackItems`. @throws StoreError `dataset_not_found` if one is gone */
  readItems(ranges: readonly SectionRange[], signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
  /** The contents of files by their hash. @throws StoreError `asset_missing` */
  readContents(
    files: readonly { readonly sha256: string; readonly byteLength: number }[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Bytes that the names of members, their colons and commas, and a line feed add to the texts of an item. */
const LINE_BYTES = `i.byte_length + coalesce(i.linked_bytes, 0) + 1
  + CASE WHEN i.answer IS NULL THEN 0 ELSE 10 END + CASE WHEN i.assets IS NULL THEN 0 ELSE 10 END
  + CASE WHEN i.checker IS NULL THEN 0 ELSE 11 END`;

async function readSizes(
  query: ReadQuery,
  ranges: readonly SectionRange[],
  maxItemBytes: number,
): Promise<Float64Array> {
  const parameters = new Parameters();
  // One value for all items: a row for each would fill the memory of young objects.
  const [row] = await query<{ readonly sizes: Buffer | null; readonly largest: number | null }>(
    `SELECT string_agg(float8send((${LINE_BYTES})::float8), ''::bytea ORDER BY i.section, i.order_index) AS sizes,
       max(i.byte_length) AS largest
     FROM ${itemsInRanges(ranges, parameters)} i`,
    parameters.values,
  );
  const bytes = row?.sizes ?? Buffer.alloc(0);
  if (bytes.byteLength !== 8 * itemsOf(ranges)) throw itemsGone();
  if (Number(row?.largest) > maxItemBytes) {
    throw new StoreError('item_too_large', `An item has more than ${maxItemBytes} bytes.`);
  }
  return Float64Array.from({ length: itemsOf(ranges) }, (_, index) => bytes.readDoubleBE(8 * index));
}

const itemsOf = (ranges: readonly SectionRange[]): number =>
  ranges.reduce((sum, { count }) => sum + count, 0);

/** Inserts profiles, in place of those of fewer items; those of parts that are gone are left out. */
export async function insertProfiles(
  client: Pick<pg.ClientBase, 'query'>,
  profiles: readonly StoredProfile[],
): Promise<void> {
  if (profiles.length === 0) return;
  await client.query(
    `INSERT INTO hub_profiles (part_id, first, format, profile)
     SELECT p.id, made.first, $4, made.profile
     FROM unnest($1::uuid[], $2::int[], $3::text[]) AS made (part_id, first, profile)
       JOIN parts p ON p.id = made.part_id
     ON CONFLICT (part_id, first, format) DO UPDATE SET profile = EXCLUDED.profile`,
    [
      profiles.map(({ partId }) => partId),
      profiles.map(({ first }) => first),
      profiles.map(({ profile }) => profile),
      PROFILE_FORMAT,
    ],
  );
}

export function createHubItems(
  context: Pick<StoreContext, 'pool' | 'assets' | 'exports' | 'maxItemBytes'>,
): HubItems {
  const { pool, assets, maxItemBytes } = context;
  const reads = (signal?: AbortSignal) => createReads(pool, signal);
  /** Estimates of many ranges are so high that the server would compile the statement, for half a second. */
  const readUncompiled = <T>(
    work: (query: ReadQuery, copy: CopyQuery) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> =>
    readFrom(
      pool,
      async (query, copy) => {
        await query('SET LOCAL jit = off');
        return await work(query, copy);
      },
      signal,
      SNAPSHOT,
    );
  return guarded({
    async openLines(section, signal) {
      const { session, query } = await openReadSession(context, signal);
      try {
        await query(READ_BY_KEY);
        const [found] = await query('SELECT 1 AS found FROM sections WHERE id = $1', [section.id]);
        if (found === undefined) throw itemsGone();
        // From here on it takes as long as its reader does.
        await query('SET LOCAL statement_timeout = 0');
      } catch (error) {
        await session.close();
        throw error;
      }
      return {
        sizes: async (from, to) =>
          await readSizes(query, await readRangesBetween(query, section.id, from, to), maxItemBytes),
        between: (from, to) => guardedStream(session.linesBetween(section, from, to)),
        [Symbol.asyncDispose]: () => session.close(),
      };
    },

    findProfiles: (partIds, signal) =>
      reads(signal).query<StoredProfile>(
        'SELECT part_id AS "partId", first, profile FROM hub_profiles WHERE part_id = ANY ($1) AND format = $2',
        [partIds, PROFILE_FORMAT],
      ),

    addProfiles: (profiles) => insertProfiles(pool, profiles),

    ranges: (sectionIds, signal) => readRangesOf(reads(signal).query, sectionIds),

    lineSizes: (ranges, signal) => readUncompiled((query) => readSizes(query, ranges, maxItemBytes), signal),

    async readItems(ranges, signal) {
      const chunks = await readUncompiled(
        (_, copy) =>
          copy(
            `COPY (SELECT ${packedItems()}, count(*)::int FROM ${itemsInRanges(ranges, LITERALS)} i) TO STDOUT (FORMAT binary)`,
          ),
        signal,
      );
      const [row] = copiedRows(chunks);
      if (row === undefined || row.isNull(0) || row.int32(1) !== itemsOf(ranges)) throw itemsGone();
      return asCopy(row.view(0));
    },

    async readContents(files, signal) {
      const reader = createAssetReader({ assets, reads: reads(signal), signal });
      const contents = new Map<string, Uint8Array>();
      const left = new Map(files.map((file) => [file.sha256, file]));
      for (const [sha256, file] of left) {
        left.delete(sha256);
        contents.set(sha256, await wholeOf(reader(file, left.values()), file.byteLength));
      }
      return contents;
    },
  } satisfies HubItems);
}

/** The dataset, or the version, was deleted while its items were read. */
const itemsGone = (): StoreError =>
  new StoreError('dataset_not_found', 'The items of this version are gone.');
