import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { StoreContext } from '../context.ts';
import { cutLongRows, cutRows } from '../database/copy-format.ts';
import type { StoredSection } from '../database/dataset-row.ts';
import { toStoreError } from '../database/errors.ts';
import { cancelQuery } from '../postgres/client.ts';
import { destroySocket } from '../postgres/pg-internals.ts';
import { Transaction } from '../postgres/pool.ts';
import { queryOf, SET_ON_NODES, SNAPSHOT } from '../postgres/read-query.ts';
import { decodeRows, ItemOrder, type ItemRow } from './decode-rows.ts';
import { type ItemLine, toLines } from './item-lines.ts';
import { cutRange, cutRanges, readRangesOf, type SectionRange } from './item-ranges.ts';
import type { StoredItem } from './list-items.ts';

const SECTIONS_PER_READ = 1_000;
const RANGES_PER_COPY = 1_000;
/** Items of several short ranges of one COPY; on Citus, which holds all of them before it sends the first, of any. */
const ITEMS_PER_COPY = 4_096;
/** Whether the server is the coordinator of a Citus cluster. */
export const IS_CLUSTER = `SELECT to_regclass('pg_dist_partition') IS NOT NULL AS "isCluster"`;

/**
 * Items are read in the order of their primary key, and have been written in it. A way that is off but cannot be avoided costs
 * so much that the server would compile the statement, for half a second.
 */
export const READ_BY_KEY: string = [
  SET_ON_NODES,
  'SET LOCAL jit = off',
  ...['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map((way) => `SET LOCAL enable_${way} = off`),
].join('; ');

/** Waits for a permit and a connection, and begins a snapshot that ends when the session is closed. */
export async function openReadSession(
  { pool, exports, maxItemBytes }: Pick<StoreContext, 'pool' | 'exports' | 'maxItemBytes'>,
  signal: AbortSignal | undefined,
) {
  const permit = await exports.acquire(signal);
  let transaction: Transaction | undefined;
  try {
    transaction = await Transaction.begin(pool, pool.limit.begin(SNAPSHOT));
    const query = queryOf(transaction.client);
    const [server] = await query<{ readonly isCluster: boolean }>(IS_CLUSTER);
    const isCluster = server?.isCluster === true;
    // From here on the session is told.
    signal?.throwIfAborted();
    return { session: new ReadSession(transaction, permit, isCluster, maxItemBytes, signal), query };
  } catch (error) {
    await transaction?.[Symbol.asyncDispose]();
    permit[Symbol.dispose]();
    throw error;
  }
}

type RowReader<T> = (
  chunks: AsyncIterable<Uint8Array>,
  order: ItemOrder,
) => AsyncGenerator<T, void, undefined>;

/** One connection in one snapshot, returned to the pool when it is closed: clean, or not at all. */
class ReadSession {
  #transaction: Transaction | null;
  readonly #permit: Disposable;
  readonly #isCluster: boolean;
  readonly #maxItemBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    // A statement that sends nothing yet would not notice that its connection is closed.
    if (this.#transaction !== null) void cancelQuery(this.#transaction.client);
    this.#discard();
  };
  #reading = false;

  constructor(
    transaction: Transaction,
    permit: Disposable,
    isCluster: boolean,
    maxItemBytes: number,
    signal: AbortSignal | undefined,
  ) {
    this.#transaction = transaction;
    this.#permit = permit;
    this.#isCluster = isCluster;
    this.#maxItemBytes = maxItemBytes;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  items(sections: readonly StoredSection[]): AsyncGenerator<StoredItem[], void, undefined> {
    return this.#read(sections, (chunks, order) => toItems(decodeRows(cutRows(chunks)), order));
  }

  lines(sections: readonly StoredSection[]): AsyncGenerator<ItemLine[], void, undefined> {
    return this.#read(sections, (chunks, order) => toLines(cutLongRows(chunks), order));
  }

  /** The lines of a section from position `from` up to, not including, position `to`. */
  async *linesBetween(section: StoredSection, from: number, to: number) {
    const order = new ItemOrder([{ ...section, itemCount: to }], this.#maxItemBytes, from);
    const ranges = cutRanges(await this.#readRanges([section]), from, to);
    yield* this.#copy(groupRanges(ranges), (chunks) => toLines(cutLongRows(chunks), order));
    order.end();
  }

  async *#read<T>(sections: readonly StoredSection[], read: RowReader<T>) {
    const filled = sections.filter(({ itemCount }) => itemCount > 0);
    for (let first = 0; first < filled.length; first += SECTIONS_PER_READ) {
      const some = filled.slice(first, first + SECTIONS_PER_READ);
      const order = new ItemOrder(some, this.#maxItemBytes);
      const ranges = await this.#readRanges(some);
      const groups = groupRanges(this.#isCluster ? ranges.flatMap(cutLongRange) : ranges);
      yield* this.#copy(groups, (chunks) => read(chunks, order));
      order.end();
    }
  }

  async #readRanges(sections: readonly StoredSection[]): Promise<readonly SectionRange[]> {
    const query = queryOf(this.#idleClient());
    try {
      const ranges = await readRangesOf(
        query,
        sections.map(({ id }) => id),
      );
      return ranges.map((range) => ({
        ...range,
        section: (sections[range.section] as StoredSection).orderIndex,
      }));
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  async *#copy<T>(
    groups: Iterable<readonly SectionRange[]>,
    read: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<T, void, undefined>,
  ): AsyncGenerator<T, void, undefined> {
    this.#idleClient();
    this.#reading = true;
    try {
      for (const ranges of groups) {
        const copy = this.#openClient().query(
          copyTo(copyStatement(ranges, this.#maxItemBytes, this.#isCluster)),
        );
        yield* read(copy as AsyncIterable<Uint8Array>);
      }
      this.#reading = false;
    } catch (error) {
      throw this.#toFailure(error);
    } finally {
      // The server is still sending rows: the connection cannot be used again.
      if (this.#reading) this.#discard();
    }
  }

  #toFailure(error: unknown): unknown {
    return this.#signal?.aborted === true ? this.#signal.reason : toStoreError(error);
  }

  #openClient(): pg.PoolClient {
    this.#signal?.throwIfAborted();
    if (this.#transaction === null) throw new Error('The dataset is closed.');
    return this.#transaction.client;
  }

  #idleClient(): pg.PoolClient {
    if (this.#reading) throw new Error('The dataset is being read.');
    return this.#openClient();
  }

  async close(): Promise<void> {
    const transaction = this.#transaction;
    if (transaction === null) return;
    this.#transaction = null;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    await transaction[Symbol.asyncDispose]();
    this.#permit[Symbol.dispose]();
  }

  #discard(): void {
    if (this.#transaction !== null) destroySocket(this.#transaction.client);
    void this.close();
  }
}

async function* toItems(batches: AsyncIterable<ItemRow[]>, order: ItemOrder) {
  for await (const rows of batches) {
    yield rows.map((row) => {
      const { sectionOrderIndex, orderIndex, payload } = row;
      const section = order.take(sectionOrderIndex, orderIndex, payload !== null);
      return { section, ...row, payload: payload ?? '' };
    });
  }
}

function* groupRanges(ranges: readonly SectionRange[]): Generator<readonly SectionRange[], void> {
  let group: SectionRange[] = [];
  let items = 0;
  for (const range of ranges) {
    if (group.length > 0 && (items + range.count > ITEMS_PER_COPY || group.length === RANGES_PER_COPY)) {
      yield group;
      [group, items] = [[], 0];
    }
    group.push(range);
    items += range.count;
  }
  yield group;
}

function cutLongRange(range: SectionRange): SectionRange[] {
  const pieces = Math.ceil(range.count / ITEMS_PER_COPY);
  return Array.from({ length: pieces }, (_, piece) =>
    cutRange(range, piece * ITEMS_PER_COPY, Math.min((piece + 1) * ITEMS_PER_COPY, range.count)),
  ).flat();
}

/**
 * A COPY takes no parameters, so its text contains the ids, which are UUIDs from the database. The server reads a single
 * range in the order of the primary key, without sorting: its values become constants. An item that is too large comes
 * without its parts. The coordinator of Citus parses what it passes on as JSON, but not
 * as text, which costs one server a copy of each value.
 */
function copyStatement(ranges: readonly SectionRange[], maxItemBytes: number, isCluster: boolean): string {
  const values = ranges.map(
    ({ partId, section, start, first, count }, n) =>
      `('${partId}'::uuid, ${n}, ${section}, ${start}, ${first}, ${count})`,
  );
  const partIds = new Set(ranges.map(({ partId }) => `'${partId}'::uuid`));
  const part = (name: string): string =>
    `CASE WHEN i.byte_length <= ${maxItemBytes} THEN i.${name}${isCluster ? '::text' : ''} END`;
  return `COPY (
    SELECT range.section, range.start + i.ordinal - range.first, i.item_hash, ${part('answer')}, ${part('checker')},
      ${part('assets')}, ${part('linked_files')}, ${part('payload')}
    FROM (VALUES ${values.join(',')}) AS range (part_id, n, section, start, first, count)
      JOIN items i ON i.part_id = range.part_id AND i.ordinal >= range.first AND i.ordinal < range.first + range.count
    WHERE i.part_id IN (${[...partIds].join(',')})
    ORDER BY range.n, i.ordinal
  ) TO STDOUT (FORMAT binary)`;
}
