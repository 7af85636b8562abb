import type pg from 'pg';
import { StoreError, toStoreError } from '../database/errors.ts';
import { hasCommitted } from '../database/has-committed.ts';
import { Transaction } from '../database/transaction.ts';
import { removeLooseSection } from '../sections/collect-sections.ts';
import { addLooseSection, keepSections } from '../sections/loose-sections.ts';
import { CopyIn } from './copy-in.ts';
import { COPY_ITEMS } from './encode-rows.ts';
import type { EncodedRows } from './encoded-rows.ts';
import { HeldRows } from './held-rows.ts';
import type { RowEncoder } from './row-encoder.ts';
import { ItemStreams } from './streams/item-streams.ts';
import type { StreamPool } from './streams/stream-pool.ts';

/** Statements between batches. */
export type TransactionStep = (client: pg.ClientBase) => Promise<void>;

/** Rows of a section that are copied before further connections help: the others need not wait for a small import. */
const SPREAD_BYTES = 8 * 1024 * 1024;

export interface ItemsTransactionDeps {
  readonly pool: pg.Pool;
  /** Takes the buffers of batches that were sent. */
  readonly encoder: Pick<RowEncoder, 'recycle'>;
  /** Connections that help with large sections; null for none. */
  readonly streams: StreamPool | null;
  readonly signal: AbortSignal | undefined;
}

/**
 * A transaction that stores rows of `items`. It takes a connection when it has to; disposing it rolls back.
 *
 * The first 64 KiB of rows are held back. If there are no more, they are inserted with the first statements of the
 * transaction, all in one round trip; else all rows are copied.
 *
 * Of a large section, several streams may copy the rest of the rows, and commit them before this transaction inserts the
 * section's row and commits: until then nothing shows them, and if it does not, they are removed.
 */
export class ItemsTransaction implements AsyncDisposable {
  readonly #deps: ItemsTransactionDeps;
  readonly #held = new HeldRows();
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #copied = 0;
  /** Undefined before the first large section; null where this transaction has to copy alone. */
  #streams: ItemStreams | null | undefined;
  #id: string | undefined;
  /** Those whose rows the streams copied. */
  readonly #spreadSections: string[] = [];
  #isCommitted = false;

  constructor(deps: ItemsTransactionDeps) {
    this.#deps = deps;
  }

  /** Runs statements, for which it ends its COPY. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#deps.signal?.throwIfAborted();
    await this.#endOwnCopy();
    if (this.#transaction === undefined) await this.#begin(async () => undefined);
    try {
      return await work((this.#transaction as Transaction).client);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /**
   * Runs statements after all rows, and for a small import together with them.
   *
   * @param send queries the client before it returns, and not later; no COPY
   * @throws as {@link run}, and `CopyIn.end`
   */
  async runAfterRows<T>(send: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    await this.endCopy();
    return this.#transaction === undefined ? await this.#begin(send) : await this.run(send);
  }

  /**
   * Stores batches of a section, gives their buffers back, and runs steps that come among them.
   *
   * @throws as `CopyIn.write`; what a step throws
   */
  async write(sectionId: string, batches: AsyncIterable<EncodedRows | TransactionStep>): Promise<void> {
    const source = batches[Symbol.asyncIterator]();
    let limitBytes = this.#deps.streams === null ? Number.POSITIVE_INFINITY : SPREAD_BYTES;
    let end: PartEnd = {};
    if (this.#transaction === undefined && (await this.#hold(source, end))) return;
    for (;;) {
      if (end.reason === undefined) {
        this.#copy ??= await closing(source, this.#openCopy());
        await this.#copy.write(this.#rowsOfPart(source, limitBytes, end));
      }
      const { reason } = end;
      if (reason === undefined) return;
      end = {};
      try {
        if (reason !== 'full') await this.run(reason);
        else if (await this.#spread(sectionId)) break;
        else limitBytes = Number.POSITIVE_INFINITY;
      } catch (error) {
        await source.return?.();
        throw error;
      }
    }
    await this.#streams?.write(this.#runSteps(source), this.#deps.encoder);
  }

  /** Ends every COPY. @returns the rows, without those that are held back, that the server counted so far @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    await this.#endOwnCopy();
    return this.#copied + ((await this.#streams?.endCopy()) ?? 0);
  }

  /**
   * Makes the rows of all streams part of this transaction: it sees them from now on. Call it after the row of the dataset
   * is inserted.
   *
   * @throws StoreError `unavailable`
   */
  async join(): Promise<void> {
    if (this.#spreadSections.length === 0) return;
    await this.#streams?.commit();
    await this.run((client) => keepSections(client, this.#spreadSections));
  }

  /** @param id number of the transaction, to find out whether it committed if the connection is lost during COMMIT */
  async commit(id: string): Promise<void> {
    this.#deps.signal?.throwIfAborted();
    try {
      await this.#transaction?.commit();
    } catch (error) {
      const found = toStoreError(error);
      const isLost = found instanceof StoreError && found.code === 'unavailable';
      if (!isLost || !(await hasCommitted(this.#deps.pool, id))) throw found;
    }
    this.#isCommitted = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#copy?.abort(new Error('The transaction was not committed.'));
    this.#transaction?.client.off('error', this.#onLost);
    await this.#transaction?.[Symbol.asyncDispose]();
    await this.#streams?.[Symbol.asyncDispose]();
    if (this.#isCommitted || this.#streams?.mayHaveCommitted !== true) return;
    for (const id of this.#spreadSections.splice(0)) {
      // What cannot be removed now is collected later.
      await removeLooseSection(this.#deps.pool, id).catch(() => undefined);
    }
  }

  /** Holds rows back. @returns whether that was all; else `end` has the batch or the step that follows */
  async #hold(source: Source, end: PartEnd): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#next(source);
      if (done === true) return true;
      if (typeof value === 'function') end.reason = value;
      else if (this.#held.add(value.rows)) {
        this.#deps.encoder.recycle(value);
        continue;
      } else end.first = value;
      return false;
    }
  }

  /** What comes next of a source. Ends at once when the signal aborts, and closes the source without waiting for it. */
  async #next<T>(source: AsyncIterator<T>): Promise<IteratorResult<T>> {
    const { signal } = this.#deps;
    if (signal === undefined) return await source.next();
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => {
      aborted.reject(signal.reason);
      source.return?.().then(undefined, () => undefined);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([source.next(), aborted.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Begins the transaction with the rows that are held back, and the statements of `send`. */
  async #begin<T>(send: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const { pool, signal } = this.#deps;
    signal?.throwIfAborted();
    const held = this.#held;
    try {
      const begun = await Transaction.beginWith(pool, (client) => [held.insert(client, pool), send(client)]);
      const [inserted, result] = begun.results;
      this.#transaction = begun.transaction;
      this.#copied += inserted;
      held.clear();
      return result;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Opens a COPY, in a new transaction if there is none, and gives it the rows that are held back. */
  async #openCopy(): Promise<CopyIn> {
    const { pool, signal } = this.#deps;
    signal?.throwIfAborted();
    try {
      this.#transaction ??= await Transaction.begin(pool);
    } catch (error) {
      throw toStoreError(error);
    }
    const copy = new CopyIn(this.#transaction.client, COPY_ITEMS, signal);
    await copy.write(this.#held.chunks());
    this.#held.clear();
    return copy;
  }

  /** Lets streams copy the rest of a section. @returns whether there are some */
  async #spread(sectionId: string): Promise<boolean> {
    const { pool, streams, signal } = this.#deps;
    if (streams === null || this.#streams === null) return false;
    if (this.#streams === undefined) {
      this.#id = await this.run(beginSpread);
      this.#streams = await ItemStreams.open(streams, signal);
      this.#transaction?.client.on('error', this.#onLost);
    }
    if (this.#streams === null || this.#id === undefined) return false;
    try {
      await addLooseSection(pool, sectionId, this.#id);
    } catch (error) {
      throw toStoreError(error);
    }
    this.#spreadSections.push(sectionId);
    await this.#streams.enter(sectionId);
    return true;
  }

  /** Without the transaction that makes them visible, the streams need not go on. */
  readonly #onLost = (error: unknown): void => this.#streams?.fail(toStoreError(error));

  async #endOwnCopy(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#copied += await copy.end();
  }

  /** The rows up to the end of a part. A reader that stops early closes the source. */
  async *#rowsOfPart(source: Source, limitBytes: number, end: PartEnd): AsyncGenerator<Uint8Array> {
    let isOpen = true;
    let bytes = 0;
    try {
      while (bytes < limitBytes) {
        const { first } = end;
        delete end.first;
        const { done, value } = first === undefined ? await source.next() : { done: false, value: first };
        if (done === true || typeof value === 'function') {
          isOpen = false;
          if (done !== true) end.reason = value as TransactionStep;
          return;
        }
        yield value.rows;
        bytes += value.rows.byteLength;
        this.#deps.encoder.recycle(value);
      }
      isOpen = false;
      end.reason = 'full';
    } finally {
      if (isOpen) await source.return?.();
    }
  }

  /** The batches that are left. Steps run while the streams send what they have: this transaction copies nothing then. */
  async *#runSteps(source: Source): AsyncGenerator<EncodedRows> {
    let isOpen = true;
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done === true) {
          isOpen = false;
          return;
        }
        if (typeof value === 'function') await this.run(value);
        else yield value;
      }
    } finally {
      if (isOpen) await source.return?.();
    }
  }
}

type Source = AsyncIterator<EncodedRows | TransactionStep>;

/** Why a part of a section ended before the section: a step, or enough rows. */
interface PartEnd {
  reason?: TransactionStep | 'full';
  /** Taken from the source already. */
  first?: EncodedRows;
}

/** Closes a source if a piece of work between two of its batches fails. */
async function closing<T>(source: Source, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await source.return?.();
    throw error;
  }
}

/** The transaction waits while streams copy, however long that takes. @returns its number */
async function beginSpread(client: pg.ClientBase): Promise<string> {
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  return rows[0]?.id ?? '';
}
