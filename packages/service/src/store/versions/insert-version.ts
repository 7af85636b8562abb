import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { createYielder } from '../../concurrency/index.ts';
import { COPY_HEADER, COPY_TRAILER } from '../database/copy-format.ts';
import { Parameters } from '../database/page.ts';
import { compareSections, type DiffCounts } from '../diff/compare-sections.ts';
import { RUN_ITEMS } from '../items/hash-blocks.ts';
import { itemsInRanges, LITERALS } from '../items/item-ranges.ts';
import { queryOf } from '../postgres/read-query.ts';
import {
  cutItems,
  type ItemRange,
  itemCountOf,
  rangeFinder,
  splitRanges,
  toColumns,
  toSectionRanges,
} from './ranges.ts';
import type { SectionState, VersionState } from './read-version.ts';
import { Sha256State, startSectionHash } from './sha256-state.ts';

interface VersionMeta {
  readonly source: string;
  readonly message: string | null;
  readonly author: string | null;
  readonly change: DiffCounts;
}

export async function insertVersion(
  client: pg.ClientBase,
  { datasetId, version, versionHash, assetCount, sources, sections }: VersionState,
  { source, message, author, change }: VersionMeta,
): Promise<void> {
  const itemCount = sections.reduce((sum, section) => sum + section.itemCount, 0);
  await client.query(
    `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, source, message, author,
       added, changed, removed, sources, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp())`,
    [
      ...[
        datasetId,
        version,
        versionHash,
        sections.map(({ id }) => id),
        itemCount,
        assetCount,
        source,
        message,
        author,
      ],
      ...[change.added, change.changed, change.removed, sources],
    ],
  );
  await client.query(
    `UPDATE datasets SET version = $2, version_count = version_count + 1, updated_at = clock_timestamp() WHERE id = $1`,
    [datasetId, version],
  );
}

/** More ranges than this, and than one for every 16 items, cost more than items that are stored once more. */
const MAX_RANGES = 4_096;

/** A section that is stored, and the state of its hash if it is new. */
export interface StoredSectionState extends SectionState {
  readonly hashState?: Uint8Array;
}

export async function storeSection(
  client: pg.ClientBase,
  datasetId: string,
  section: PlannedSection,
): Promise<StoredSectionState> {
  if (section.id !== null) return section;
  const { name, appendedTo } = section;
  const itemCount = itemCountOf(section.ranges);
  const isScattered = section.ranges.length > Math.max(MAX_RANGES, itemCount / 16);
  const ranges = isScattered ? await storeAsParts(client, datasetId, section.ranges) : section.ranges;
  const state = await hashOf(client, section, appendedTo);
  const sectionHash = Buffer.from(state.digest());
  const id = randomUUID();
  const { partIds, starts, firsts } = toColumns(ranges);
  await client.query(
    `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, part_ids, starts, firsts)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, datasetId, name, itemCount, sectionHash, partIds, starts, firsts],
  );
  return { id, name, itemCount, sectionHash, ranges, hashState: state.save() };
}

export async function saveHashState(client: pg.ClientBase, section: StoredSectionState): Promise<void> {
  const last = section.ranges.at(-1);
  if (section.hashState === undefined || last === undefined) return;
  await client.query('UPDATE parts SET hash_state = $2 WHERE id = $1', [
    last.partId,
    Buffer.concat([section.sectionHash, section.hashState]),
  ]);
}

/** The hash of a section; it continues the hash of the section to which items were added. */
async function hashOf(client: pg.ClientBase, { name, ranges }: NewSection, appendedTo: SectionState | null) {
  const last = appendedTo?.ranges.at(-1);
  const saved = last === undefined ? null : await readHashState(client, last.partId);
  if (saved !== null && appendedTo?.sectionHash.equals(saved.subarray(0, 32)) === true) {
    const state = Sha256State.resume(saved.subarray(32));
    const { itemCount } = appendedTo;
    await hashItems(client, state, rangeFinder(ranges)(itemCount, itemCountOf(ranges) - itemCount));
    return state;
  }
  const state = startSectionHash(name);
  await hashItems(client, state, ranges);
  return state;
}

async function readHashState(client: pg.ClientBase, partId: string): Promise<Buffer | null> {
  const { rows } = await client.query<{ state: Buffer | null }>(
    'SELECT hash_state AS state FROM parts WHERE id = $1',
    [partId],
  );
  return rows[0]?.state ?? null;
}

async function storeAsParts(client: pg.ClientBase, datasetId: string, ranges: readonly ItemRange[]) {
  const parts: ItemRange[] = [];
  for (const some of splitRanges(ranges, RUN_ITEMS, cutItems)) {
    const part = { partId: randomUUID(), first: 0, count: itemCountOf(some) };
    await client.query('INSERT INTO parts (id, dataset_id, item_count) VALUES ($1, $2, $3)', [
      part.partId,
      datasetId,
      part.count,
    ]);
    await copyItems(client, some, { partId: part.partId, ordinal: 0 });
    parts.push(part);
  }
  return parts;
}

export async function copyItems(
  client: pg.ClientBase,
  ranges: readonly ItemRange[],
  to: { readonly partId: string; readonly ordinal: number },
): Promise<void> {
  const parameters = new Parameters();
  const { add } = parameters;
  await client.query(
    `INSERT INTO items (part_id, ordinal, ${ITEM_COLUMNS})
     SELECT ${add(to.partId)}::uuid, i.order_index + ${add(to.ordinal)}::int, ${ITEM_COLUMNS.replaceAll(/\b(?=\w+\b)/g, 'i.')}
     FROM ${itemsInRanges(toSectionRanges([ranges]), parameters)} i`,
    parameters.values,
  );
}

const ITEM_COLUMNS =
  'byte_length, item_hash, type, payload, answer, checker, assets, linked_files, linked_bytes, item_id';

/** Keeps the staged items to which sections refer, as parts of the dataset, and removes the others. */
export async function keepStaged(
  client: pg.ClientBase,
  datasetId: string,
  staged: readonly StagedItems[],
  used: readonly ItemRange[],
): Promise<void> {
  const usedOf = Map.groupBy(used, ({ partId }) => partId);
  for (const { partId, count: itemCount } of staged.flatMap(({ ranges }) => ranges)) {
    const ofPart = usedOf.get(partId) ?? [];
    if (itemCountOf(ofPart) < itemCount) {
      const kept = ofPart.map(({ first, count }) => `[${first},${first + count})`).join(',');
      await client.query('DELETE FROM items WHERE part_id = $1 AND NOT ordinal <@ $2::int4multirange', [
        partId,
        `{${kept}}`,
      ]);
    }
    if (ofPart.length === 0) continue;
    await client.query('INSERT INTO parts (id, dataset_id, item_count) VALUES ($1, $2, $3)', [
      partId,
      datasetId,
      itemCount,
    ]);
  }
}

/** Hashes that one query reads: 2 MB. */
const ITEMS_PER_QUERY = 65_536;

async function hashItems(client: pg.ClientBase, state: Sha256State, ranges: readonly ItemRange[]) {
  const yieldToEventLoop = createYielder();
  for (const some of splitRanges(ranges, ITEMS_PER_QUERY, cutItems)) {
    const hashes = await readHashes(client, some);
    if (hashes.byteLength !== itemCountOf(some) * 32) throw new Error('The ranges of a section lack items.');
    for (let at = 0; at < hashes.byteLength; at += HASHED_BYTES) {
      state.update(hashes.subarray(at, at + HASHED_BYTES));
      await yieldToEventLoop();
    }
  }
}

/** A millisecond. */
const HASHED_BYTES = 128 * 1024;

/** By COPY, because the text of bytes is twice as long, and must be parsed. A statement of COPY has no parameters. */
async function readHashes(client: pg.ClientBase, ranges: readonly ItemRange[]): Promise<Buffer> {
  const copy = client.query(
    copyTo(`COPY (SELECT string_agg(i.item_hash, ''::bytea ORDER BY i.order_index)
      FROM ${itemsInRanges(toSectionRanges([ranges]), LITERALS)} i) TO STDOUT (FORMAT binary)`),
  );
  const row = Buffer.concat(await Array.fromAsync(copy as AsyncIterable<Buffer>));
  return row.subarray(COPY_HEADER.byteLength + ROW_HEAD_BYTES, -COPY_TRAILER.byteLength);
}

/** The number of fields, and the length of the first. */
const ROW_HEAD_BYTES = 6;

/** The counts of the diff of two versions, in a transaction. Sections that both have are not read. */
export async function countDifferences(
  client: pg.ClientBase,
  before: Pick<VersionState, 'sections'>,
  after: Pick<VersionState, 'sections'>,
): Promise<DiffCounts> {
  const { counts } = await compareSections(
    queryOf(client),
    before.sections.map(({ id }) => id),
    after.sections.map(({ id }) => id),
  );
  return counts;
}

/** Items that the transaction has stored, as parts to which no section refers yet. */
export interface StagedItems {
  /** Name of the section for which they are; null if the body does not name one. */
  readonly section: string | null;
  readonly ranges: readonly ItemRange[];
}

export type PlannedSection = SectionState | NewSection;

export interface NewSection {
  readonly id: null;
  readonly name: string;
  readonly ranges: readonly ItemRange[];
  /** The section to whose end items were added; null if its other items changed. */
  readonly appendedTo: SectionState | null;
}
