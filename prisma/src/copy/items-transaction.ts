import type pg from 'pg';
import { StoreError, toStoreError } from '../database/errors.ts';
import { hasCommitted } from '../database/has-committed.ts';
import { Transaction } from '../database/transaction.ts';
import { CopyIn } from './copy-in.ts';
import { COPY_ITEMS } from './encode-rows.ts';

/** Statements between rows. */
export type TransactionStep = (client: pg.ClientBase) => Promise<void>;

/** A transaction that copies rows of `items`. It takes a connection on first use; disposing it rolls back. */
export class ItemsTransaction implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #signal: AbortSignal | undefined;
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #copied = 0;

  constructor(pool: pg.Pool, signal: AbortSignal | undefined) {
    this.#pool = pool;
    this.#signal = signal;
  }

  /** Runs statements, for which it ends the COPY. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#signal?.throwIfAborted();
    await this.endCopy();
    try {
      this.#transaction ??= await Transaction.begin(this.#pool);
      return await work(this.#transaction.client);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Copies rows, and runs steps that come among them. @throws as `CopyIn.write`; what a step throws */
  async write(rows: AsyncIterable<Uint8Array | TransactionStep>): Promise<void> {
    const source = rows[Symbol.asyncIterator]();
    for (;;) {
      const end: { step?: TransactionStep } = {};
      this.#copy ??= await this.run(async (client) => new CopyIn(client, COPY_ITEMS, this.#signal));
      await this.#copy.write(untilStep(source, end));
      if (end.step === undefined) return;
      try {
        await this.run(end.step);
      } catch (error) {
        await source.return?.();
        throw error;
      }
    }
  }

  /** Ends the COPY, if there is one. @returns the rows that the server counted so far @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#copied += await copy.end();
    return this.#copied;
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

/** The rows up to the next step, which it puts into `end`. A reader that stops early closes the source. */
async function* untilStep(
  source: AsyncIterator<Uint8Array | TransactionStep>,
  end: { step?: TransactionStep },
): AsyncGenerator<Uint8Array> {
  let isOpen = true;
  try {
    for (;;) {
      const { done, value } = await source.next();
      if (done === true || typeof value === 'function') {
        isOpen = false;
        if (done !== true) end.step = value as TransactionStep;
        return;
      }
      yield value;
    }
  } finally {
    if (isOpen) await source.return?.();
  }
}
