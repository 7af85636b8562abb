import { cancelQuery, destroySocket, queryOf, type ReadQuery } from '@svc/postgres';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { StoreContext } from '../context.ts';
import { cutLongRows, cutRows } from '../database/copy-format.ts';
import type { StoredSection } from '../database/dataset-row.ts';
import { toStoreError } from '../database/errors.ts';
import { decodeRows, type ItemRow } from './decode-rows.ts';
import { type ItemLine, toLines } from './item-lines.ts';
import { ItemOrder } from './item-order.ts';
import type { StoredItem } from './list-items.ts';
import { itemsOf } from './version-sql.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Sections of one COPY: small ones share a statement, whose text stays short. */
const SECTIONS_PER_COPY = 1_000;

/** Waits for a permit and a connection, and begins a snapshot that ends when the session is closed. */
export async function openReadSession(
  { pool, exports, maxItemBytes }: Pick<StoreContext, 'pool' | 'exports' | 'maxItemBytes'>,
  signal: AbortSignal | undefined,
): Promise<{ readonly session: ReadSession; readonly query: ReadQuery }> {
  const permit = await exports.acquire(signal);
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    permit[Symbol.dispose]();
    throw error;
  }
  const session = new ReadSession(client, permit, maxItemBytes, signal);
  try {
    await client.query(pool.limit.begin(BEGIN));
  } catch (error) {
    await session.close();
    throw error;
  }
  return { session, query: queryOf(client) };
}

type RowReader<T> = (
  chunks: AsyncIterable<Uint8Array>,
  order: ItemOrder,
) => AsyncGenerator<T, void, undefined>;

/** One connection in one snapshot, returned to the pool when it is closed: clean, or not at all. */
export class ReadSession {
  #client: pg.PoolClient | null;
  readonly #permit: Disposable;
  readonly #maxItemBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    // A statement that sends nothing yet would not notice that its connection is closed.
    if (this.#client !== null) void cancelQuery(this.#client);
    this.#discard();
  };
  readonly #ignore = (): void => undefined;
  #reading = false;

  constructor(
    client: pg.PoolClient,
    permit: Disposable,
    maxItemBytes: number,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#permit = permit;
    this.#maxItemBytes = maxItemBytes;
    this.#signal = signal;
    client.on('error', this.#ignore);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The items of these sections, in order. */
  items(sections: readonly StoredSection[]): AsyncGenerator<StoredItem[], void, undefined> {
    return this.#read(sections, (chunks, order) => toItems(decodeRows(cutRows(chunks)), order));
  }

  /** Their lines, as `OpenDataset.lines` gives them. */
  lines(sections: readonly StoredSection[]): AsyncGenerator<ItemLine[], void, undefined> {
    return this.#read(sections, (chunks, order) => toLines(cutLongRows(chunks), order));
  }

  async *#read<T>(
    sections: readonly StoredSection[],
    read: RowReader<T>,
  ): AsyncGenerator<T, void, undefined> {
    for (let first = 0; first < sections.length; first += SECTIONS_PER_COPY) {
      const group = sections.slice(first, first + SECTIONS_PER_COPY);
      if (group.every(({ itemCount }) => itemCount === 0)) continue;
      const order = new ItemOrder(group, this.#maxItemBytes);
      yield* this.#copy(group, (chunks) => read(chunks, order));
    }
  }

  async *#copy<T>(
    sections: readonly StoredSection[],
    read: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<T, void, undefined>,
  ): AsyncGenerator<T, void, undefined> {
    this.#signal?.throwIfAborted();
    const client = this.#client;
    if (client === null || this.#reading) throw new Error('The dataset is closed or is being read.');
    this.#reading = true;
    const copy = client.query(copyTo(copyStatement(sections, this.#maxItemBytes)));
    try {
      yield* read(copy as AsyncIterable<Uint8Array>);
      this.#reading = false;
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw toStoreError(error);
    } finally {
      // The server is still sending rows: the connection cannot be used again.
      if (this.#reading) this.#discard();
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    this.#client = null;
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    this.#release(client, broken);
  }

  #discard(): void {
    const client = this.#client;
    if (client === null) return;
    this.#client = null;
    // The server sees the end of the connection and stops sending.
    destroySocket(client);
    this.#release(client, true);
  }

  #release(client: pg.PoolClient, broken: boolean): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (!broken) client.off('error', this.#ignore);
    client.release(broken);
    this.#permit[Symbol.dispose]();
  }
}

/** Adds the names of sections. @throws as `order` does */
async function* toItems(
  batches: AsyncIterable<ItemRow[]>,
  order: ItemOrder,
): AsyncGenerator<StoredItem[], void, undefined> {
  for await (const rows of batches) {
    yield rows.map((row) => {
      const { sectionOrderIndex, orderIndex, payload } = row;
      const section = order.take(sectionOrderIndex, orderIndex, payload !== null);
      return { section, ...row, payload: payload ?? '' };
    });
  }
  order.end();
}

/**
 * A COPY takes no parameters, so its text contains the ids, which are UUIDs from the database. OFFSET 0 keeps the planner
 * from sorting all items: each section is read in its order, one after the other. An item that is too
 * large comes without its parts.
 */
function copyStatement(sections: readonly StoredSection[], maxItemBytes: number): string {
  const values = sections.map(({ id, orderIndex }) => `('${id}'::uuid, ${orderIndex})`).join(',');
  return `COPY (
    SELECT wanted.order_index, i.* FROM (VALUES ${values}) AS wanted (id, order_index)
      CROSS JOIN LATERAL (SELECT * FROM sections WHERE id = wanted.id OFFSET 0) AS s CROSS JOIN LATERAL (
      SELECT order_index AS item, item_hash, CASE WHEN fits THEN answer END, CASE WHEN fits THEN checker END,
        CASE WHEN fits THEN assets END, CASE WHEN fits THEN linked_files END, CASE WHEN fits THEN payload END
      FROM (SELECT item.*, item.byte_length <= ${maxItemBytes} AS fits FROM ${itemsOf()} AS item) sized
    ) i
  ) TO STDOUT (FORMAT binary)`;
}
