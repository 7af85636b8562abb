import type pg from 'pg';
import { StoreError, toStoreError } from '../database/errors.ts';
import { hasCommitted } from '../database/has-committed.ts';
import { Transaction } from '../database/transaction.ts';
import { CopyIn } from './copy-in.ts';
import { COPY_ITEMS } from './encode-rows.ts';

/** A transaction that copies rows of `items`. It takes a connection on first use; disposing it rolls back. */
export class ItemsTransaction implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #signal: AbortSignal | undefined;
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;

  constructor(pool: pg.Pool, signal: AbortSignal | undefined) {
    this.#pool = pool;
    this.#signal = signal;
  }

  /** Runs statements; not between the first `write` and `endCopy`. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#signal?.throwIfAborted();
    try {
      this.#transaction ??= await Transaction.begin(this.#pool);
      return await work(this.#transaction.client);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Copies rows. @throws as `CopyIn.write` */
  async write(rows: AsyncIterable<Uint8Array>): Promise<void> {
    this.#copy ??= await this.run(async (client) => new CopyIn(client, COPY_ITEMS, this.#signal));
    await this.#copy.write(rows);
  }

  /** Ends the COPY, if there is one. @returns the number of rows that the server counted @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    return (await this.#copy?.end()) ?? 0;
  }

  /** @param id number of the transaction, to find out whether it committed if the connection is lost during COMMIT */
  async commit(id: string): Promise<void> {
    this.#signal?.throwIfAborted();
    try {
      await this.#transaction?.commit();
    } catch (error) {
      const found = toStoreError(error);
      const isLost = found instanceof StoreError && found.code === 'unavailable';
      if (!isLost || !(await hasCommitted(this.#pool, id))) throw found;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#copy?.abort(new Error('The transaction was not committed.'));
    await this.#transaction?.[Symbol.asyncDispose]();
  }
}
