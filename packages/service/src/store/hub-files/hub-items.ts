import type pg from 'pg';
import { createAssetReader, wholeOf } from '../assets/read-ahead.ts';
import type { StoreContext } from '../context.ts';
import { copiedRows } from '../database/copy-format.ts';
import type { StoredSection } from '../database/dataset-row.ts';
import { guardedStream, StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { itemsInRanges, LITERALS, readRangesOf, type SectionRange } from '../items/item-ranges.ts';
import { openReadSession, READ_BY_KEY } from '../items/read-session.ts';
import type { Pool } from '../postgres/pool.ts';
import {
  type CopyQuery,
  createReadQuery,
  createReads,
  type ReadQuery,
  readFrom,
  SNAPSHOT,
} from '../postgres/read-query.ts';
import { asCopy, packedItems } from './packed-items.ts';
import { PROFILE_FORMAT, type StoredProfile } from './profile.ts';

/** Bytes that the names of members, their colons and commas, and a line feed add to the texts of an item. */
const LINE_BYTES = `i.byte_length + coalesce(i.linked_bytes, 0) + 1
  + CASE WHEN i.answer IS NULL THEN 0 ELSE 10 END + CASE WHEN i.assets IS NULL THEN 0 ELSE 10 END
  + CASE WHEN i.checker IS NULL THEN 0 ELSE 11 END`;

async function readSizes(query: ReadQuery, ranges: readonly SectionRange[], maxItemBytes: number) {
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

export async function findProfiles({ pool }: StoreContext, partIds: readonly string[], signal?: AbortSignal) {
  return await createReadQuery(pool, signal)<StoredProfile>(
    'SELECT part_id AS "partId", first, profile FROM hub_profiles WHERE part_id = ANY ($1) AND format = $2',
    [partIds, PROFILE_FORMAT],
  );
}

/** Adds profiles, in place of those of fewer items; those of parts that are gone are left out. */
export async function addProfiles(
  { pool }: { readonly pool: Pick<pg.ClientBase, 'query'> },
  profiles: readonly StoredProfile[],
): Promise<void> {
  if (profiles.length === 0) return;
  await pool.query(
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

/** The lines of a section in one snapshot; holds a connection. @throws StoreError `dataset_not_found` */
export async function openLines(context: StoreContext, section: StoredSection, signal?: AbortSignal) {
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
    /** From one position up to, not including, another. To be read once. */
    between: (from: number, to: number) => guardedStream(session.linesBetween(section, from, to)),
    [Symbol.asyncDispose]: () => session.close(),
  };
}

/** Where the items of sections are: `section` of a range is the index of its id. */
export async function ranges({ pool }: StoreContext, sectionIds: readonly string[], signal?: AbortSignal) {
  return await readRangesOf(createReadQuery(pool, signal), sectionIds);
}

/**
 * Bytes of the line of each item, with its line feed and the files that it embeds.
 *
 * @throws StoreError `item_too_large`, `dataset_not_found` if an item is gone
 */
export async function lineSizes(
  { pool, maxItemBytes }: StoreContext,
  ranges: readonly SectionRange[],
  signal?: AbortSignal,
) {
  return await readUncompiled(pool, (query) => readSizes(query, ranges, maxItemBytes), signal);
}

/** The items of ranges, for `unpackItems`. @throws StoreError `dataset_not_found` if one is gone */
export async function readItems(
  { pool }: StoreContext,
  ranges: readonly SectionRange[],
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const items = `SELECT ${packedItems()}, count(*)::int FROM ${itemsInRanges(ranges, LITERALS)} i`;
  const sql = `COPY (${items}) TO STDOUT (FORMAT binary)`;
  const [row] = copiedRows(await readUncompiled(pool, (_, copy) => copy(sql), signal));
  if (row === undefined || row.isNull(0) || row.int32(1) !== itemsOf(ranges)) throw itemsGone();
  return asCopy(row.view(0));
}

/** Estimates of many ranges are so high that the server would compile the statement, for half a second. */
const readUncompiled = <T>(
  pool: Pool,
  work: (query: ReadQuery, copy: CopyQuery) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => readFrom(pool, work, signal, `${SNAPSHOT}; SET LOCAL jit = off`);

/** The contents of files by their hash. @throws StoreError `asset_missing` */
export async function readContents(
  { pool, assets }: StoreContext,
  files: readonly { readonly sha256: string; readonly byteLength: number }[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const reader = createAssetReader({ assets, reads: createReads(pool, signal), signal });
  const contents = new Map<string, Uint8Array>();
  const left = new Map(files.map((file) => [file.sha256, file]));
  for (const [sha256, file] of left) {
    left.delete(sha256);
    contents.set(sha256, await wholeOf(reader(file, left.values()), file.byteLength));
  }
  return contents;
}

/** The dataset, or the version, was deleted while its items were read. */
const itemsGone = (): StoreError =>
  new StoreError('dataset_not_found', 'The items of this version are gone.');
