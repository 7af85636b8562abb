import { hasCommitted, type Pool, Transaction } from '@svc/postgres';
import type pg from 'pg';
import { StoreError, toStoreError } from '../../database/errors.ts';
import { CopyIn } from '../copy-in.ts';
import { COPY_ITEMS } from '../encode-rows.ts';
import type { EncodedRows } from '../encoded-rows.ts';
import type { RowEncoder } from '../row-encoder.ts';
import { HeldRows } from './held-rows.ts';
import { SectionSource, type TransactionStep } from './section-source.ts';

export interface ItemsTransactionDeps {
  readonly pool: Pool;
  /** Takes the buffers of batches that were sent. */
  readonly encoder: Pick<RowEncoder, 'recycle'>;
  readonly signal: AbortSignal | undefined;
}

/**
 * A transaction that stores rows of `items`. It takes a connection when it has to; disposing it rolls back.
 *
 * The first 64 KiB of rows are held back. If there are no more, they are inserted with the first statements of the
 * transaction, all in one round trip; else all rows are copied.
 */
export class ItemsTransaction implements AsyncDisposable {
  readonly #deps: ItemsTransactionDeps;
  readonly #held = new HeldRows();
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #copied = 0;

  constructor(deps: ItemsTransactionDeps) {
    this.#deps = deps;
  }

  /** The rows so far, if nothing has been sent to the server; else null. */
  get heldRows(): HeldRows | null {
    return this.#transaction === undefined && !this.#held.isEmpty ? this.#held : null;
  }

  /** Runs statements, for which it ends its COPY. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#deps.signal?.throwIfAborted();
    await this.endCopy();
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
   * Stores batches of rows, gives their buffers back, and runs steps that come among them.
   *
   * @throws as `CopyIn.write`; what a step throws
   */
  async write(batches: AsyncIterable<EncodedRows | TransactionStep>): Promise<void> {
    const { signal, encoder } = this.#deps;
    const source = new SectionSource(batches, encoder);
    if (this.#transaction === undefined) await source.hold(this.#held, signal);
    if (source.end === 'rows') await this.#copyPart(source);
    for (let { end } = source; typeof end === 'function'; { end } = source) {
      const step = end;
      await source.between(() => this.run(step));
      await this.#copyPart(source);
    }
  }

  /** Ends the COPY. @returns the rows, without those that are held back, that the server counted so far @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#copied += await copy.end();
    return this.#copied;
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#copy?.abort(new Error('The transaction was not committed.'));
    await this.#transaction?.[Symbol.asyncDispose]();
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

  /** Copies a part of a section. */
  async #copyPart(source: SectionSource): Promise<void> {
    this.#copy ??= await source.between(() => this.#openCopy());
    await this.#copy.write(source.rows());
  }
}
