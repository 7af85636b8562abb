import {
  assetEntries,
  filesOfPart,
  type ItemParts,
  isBase64,
  isEmbeddedChecker,
  layoutPart,
} from '@svc/jsonl-v23/internal';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { boundOfBytes } from '../database/item-size.ts';
import { joinStoredItem, readStoredJson } from '../database/read-stored-json.ts';
import { inTransaction } from '../database/transaction.ts';
import { NIL_UUID } from '../database/values.ts';
import { NO_FILE_SHA256 } from '../datasets/dataset-row.ts';
import type { AssetStore } from './asset-store.ts';
import { AssetWriter } from './asset-writer.ts';
import { type LinkedItem, linkItem } from './link/link-item.ts';
import { writeLinkedFiles } from './linked-files-column.ts';

/** How far {@link moveItems} is. */
export interface MoveProgress {
  /** Items of the sections that it has looked at, and of all that it has to. */
  readonly items: number;
  readonly itemsTotal: number;
  /** Items whose files it has moved. */
  readonly moved: number;
}

/** Items of one transaction: so many, and so many bytes of their texts, one at least. */
const BATCH_ITEMS = 500;
const BATCH_BYTES = 8 * 1024 * 1024;
/** A larger item cannot be read as a text. */
const MAX_ITEM_BYTES = 256 * 1024 * 1024;

/**
 * Moves the files that items embed, as versions before assets stored them, to assets. Hashes do not change: an item is moved
 * only if its links give the text that was stored. Each batch is one transaction, so it can be stopped and started again at
 * any time, and several processes may work at once. Items stay readable all along.
 */
export async function* moveItems(
  { pool, assets }: { readonly pool: pg.Pool; readonly assets: AssetStore },
  signal?: AbortSignal,
): AsyncGenerator<MoveProgress, void, undefined> {
  const itemsTotal = await countItemsToMove(pool);
  let items = 0;
  let moved = 0;
  let section = await nextSection(pool, null);
  for (; section !== null; section = await nextSection(pool, section)) {
    const current = section;
    for (let after: number | null = -1; after !== null; ) {
      signal?.throwIfAborted();
      const turn: Turn = await inTransaction(pool, (client) =>
        moveSome(client, assets, current, after as number),
      );
      moved += turn.moved;
      after = turn.last;
      if (after !== null) yield { items: items + after + 1, itemsTotal, moved };
    }
    items += current.itemCount;
    yield { items, itemsTotal, moved };
  }
}

/** Items of the sections that {@link moveItems} has to look at. */
export async function countItemsToMove(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ total: string | null }>(
    'SELECT sum(item_count) AS total FROM sections WHERE file_bytes IS NULL',
  );
  return Number(rows[0]?.total ?? 0);
}

/** A section whose items may embed files. */
interface SectionToMove {
  readonly id: string;
  readonly datasetId: string;
  readonly orderIndex: number;
  readonly itemCount: number;
}

/** Sections whose file is not known, in the order of their datasets: only those may have items that embed files. */
async function nextSection(pool: pg.Pool, after: SectionToMove | null): Promise<SectionToMove | null> {
  const { rows } = await pool.query<SectionToMove>(
    `SELECT id, dataset_id AS "datasetId", order_index AS "orderIndex", item_count AS "itemCount" FROM sections
     WHERE file_bytes IS NULL AND (dataset_id, order_index) > ($1::uuid, $2::int)
     ORDER BY dataset_id, order_index LIMIT 1`,
    [after?.datasetId ?? NIL_UUID, after?.orderIndex ?? -1],
  );
  return rows[0] ?? null;
}

interface Turn {
  readonly moved: number;
  /** Order index of the last item that it looked at; null at the end of the section. */
  readonly last: number | null;
}

async function moveSome(
  client: pg.ClientBase,
  assets: AssetStore,
  section: SectionToMove,
  after: number,
): Promise<Turn> {
  // A deletion of the dataset waits, and another process that moves the section.
  await client.query('SELECT FROM datasets WHERE id = $1 FOR KEY SHARE', [section.datasetId]);
  const { rowCount } = await client.query(
    'SELECT FROM sections WHERE id = $1 AND file_bytes IS NULL FOR NO KEY UPDATE',
    [section.id],
  );
  if (rowCount === 0) return { moved: 0, last: null };
  const candidates = await client.query<{ orderIndex: number; bytes: string }>(CANDIDATES, [
    section.id,
    after,
  ]);
  const chosen = withinBatch(candidates.rows);
  const last = chosen.at(-1)?.orderIndex;
  if (last === undefined) {
    await client.query('UPDATE sections SET file_bytes = 0, file_sha256 = $2 WHERE id = $1', [
      section.id,
      Buffer.from(NO_FILE_SHA256),
    ]);
    return { moved: 0, last: null };
  }
  const readable = chosen.filter(({ bytes }) => Number(bytes) <= MAX_ITEM_BYTES);
  const found = await client.query<StoredRow>(ITEMS, [
    section.id,
    readable.map(({ orderIndex }) => orderIndex),
  ]);
  const writer = new AssetWriter(assets, undefined);
  const links: { readonly orderIndex: number; readonly item: LinkedItem }[] = [];
  for (const row of found.rows) {
    const item = toLinked(row);
    if (item === null) continue;
    writer.add(item.contents);
    if (writer.isFull) await writer.stage(client);
    links.push({ orderIndex: row.orderIndex, item });
  }
  if (links.length === 0) return { moved: 0, last };
  await writer.store(client, section.datasetId);
  await client.query(UPDATE_ITEMS, [
    section.id,
    links.map(({ orderIndex }) => orderIndex),
    links.map(({ item }) => item.checker),
    links.map(({ item }) => item.assets),
    links.map(({ item }) => writeLinkedFiles(item.linkedFiles)),
    links.map(({ item }) => item.linkedBytes),
  ]);
  return { moved: links.length, last };
}

function withinBatch<T extends { readonly bytes: string }>(candidates: readonly T[]): readonly T[] {
  let bytes = 0;
  const end = candidates.findIndex((candidate) => {
    bytes += Number(candidate.bytes);
    return bytes > BATCH_BYTES;
  });
  return end === -1 ? candidates : candidates.slice(0, Math.max(1, end));
}

interface StoredRow extends ItemParts {
  readonly orderIndex: number;
  readonly itemHash: Buffer;
}

/** The item with links; null for one that has no files, or none that can be moved without a change. */
function toLinked(row: StoredRow): LinkedItem | null {
  const mayEmbed = [row.assets, row.checker].some((text) => text?.includes('"data":"') === true);
  if (!mayEmbed) return null;
  const item = readStoredJson(joinStoredItem(row)) as JsonObject;
  if (!embedsPlainly(item)) return null;
  const linked = linkItem(item);
  if (linked.linkedFiles.length === 0 || !row.itemHash.equals(linked.itemHash)) return null;
  const isSame = (['assets', 'checker'] as const).every((part) => embedded(linked, part) === row[part]);
  return isSame && linked.payload === row.payload && linked.answer === row.answer ? linked : null;
}

/** Whether the content of every entry is in base64 as this version writes it, with a media type. */
function embedsPlainly(item: JsonObject): boolean {
  const isPlain = (entry: JsonObject): boolean => {
    const data = getMember(entry, 'data');
    return typeof data === 'string' && isBase64(data) && getMember(entry, 'encoding') === 'base64';
  };
  const entries = assetEntries(item).map(({ entry }) => entry);
  const checker = getMember(item, 'checker');
  return (
    entries.every(
      (entry) =>
        !Object.hasOwn(entry, 'data') ||
        (isPlain(entry) && typeof getMember(entry, 'mime_type') === 'string'),
    ) &&
    (!isEmbeddedChecker(checker) || isPlain(checker))
  );
}

/** The text of a part with its files embedded. */
function embedded(item: LinkedItem, part: 'assets' | 'checker'): string | null {
  const text = item[part];
  if (text === null) return null;
  const contents = new Map(item.contents.map(({ sha256, bytes }) => [sha256, bytes]));
  const base64 = (sha256: string): string => {
    const { buffer, byteOffset, byteLength } = contents.get(sha256) as Uint8Array;
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  };
  return layoutPart(text, filesOfPart(item.linkedFiles, part))
    .map((piece) => (typeof piece === 'string' ? piece : base64(piece.sha256)))
    .join('');
}

const CANDIDATES = `SELECT order_index AS "orderIndex", ${boundOfBytes('items')} AS bytes FROM items
  WHERE section_id = $1 AND order_index > $2 AND linked_files IS NULL AND (assets IS NOT NULL OR checker IS NOT NULL)
  ORDER BY order_index LIMIT ${BATCH_ITEMS}`;

const ITEMS = `SELECT order_index AS "orderIndex", item_hash AS "itemHash", payload::text AS payload,
    answer::text AS answer, checker::text AS checker, assets::text AS assets
  FROM items WHERE section_id = $1 AND order_index = ANY ($2::int[]) ORDER BY order_index`;

const UPDATE_ITEMS = `UPDATE items SET checker = moved.checker::json, assets = moved.assets::json,
    linked_files = moved.linked_files::json, linked_bytes = moved.linked_bytes
  FROM unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS moved (order_index, checker, assets, linked_files, linked_bytes)
  WHERE items.section_id = $1 AND items.order_index = moved.order_index AND items.linked_files IS NULL`;
