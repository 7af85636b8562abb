import { hasCommitted, type Pool, sendTogether, Transaction } from '@svc/postgres';
import type pg from 'pg';
import { CopyIn } from '../database/copy-in.ts';
import { StoreError, toStoreError } from '../database/errors.ts';
import { COPY_ITEMS } from './encode/encode-rows.ts';
import { type InsertedDataset, insertDataset, type NewDataset } from './insert-dataset.ts';
import { insertItems } from './insert-items.ts';
import type { SectionRecord } from './section-totals.ts';

/** Rows up to this size are held. */
const MAX_HELD_BYTES = 64 * 1024;

/**
 * The rows of an import's parts, and the transaction that stores them. There are two ways in: rows of at most 64 KiB are
 * held in memory, and inserted with the dataset in one round trip; more of them are copied as they come. Disposing rolls
 * back.
 */
export class PartRows implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #signal: AbortSignal | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #stored = 0;

  constructor(pool: Pool, signal: AbortSignal | undefined) {
    this.#pool = pool;
    this.#signal = signal;
  }

  /** Adds rows; when this resolves, their memory is the caller's again. @throws as `CopyIn.write` */
  async write(rows: Uint8Array): Promise<void> {
    if (this.#transaction === undefined && this.#heldBytes + rows.byteLength <= MAX_HELD_BYTES) {
      this.#held.push(Buffer.from(rows));
      this.#heldBytes += rows.byteLength;
      return;
    }
    const copy = await this.#openCopy();
    await copy.write(rows);
  }

  /** Waits for rows; ends early when the signal is aborted or the COPY fails. */
  async wait<T>(rows: Promise<T>): Promise<T> {
    return this.#copy === undefined ? await untilAborted(rows, this.#signal) : await this.#copy.wait(rows);
  }

  /** Runs statements after the rows so far. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#signal?.throwIfAborted();
    if (this.#transaction === undefined) await this.#openCopy();
    await this.#endCopy();
    try {
      return await work((this.#transaction as Transaction).client);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Inserts the dataset after all of its rows. @throws StoreError `unavailable` */
  async insertDataset(dataset: NewDataset, sections: readonly SectionRecord[]): Promise<InsertedDataset> {
    const inserted =
      this.#transaction === undefined
        ? await this.#insertHeld(dataset, sections)
        : await this.run(async (client) => {
            const [stored] = await sendTogether(client, () => [
              insertDataset(client, this.#pool, dataset, sections),
            ]);
            return stored;
          });
    if (this.#stored !== dataset.itemCount) {
      throw new Error(`${this.#stored} items were stored, and ${dataset.itemCount} were counted.`);
    }
    return inserted;
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

  async #insertHeld(dataset: NewDataset, sections: readonly SectionRecord[]): Promise<InsertedDataset> {
    const pool = this.#pool;
    this.#signal?.throwIfAborted();
    try {
      const { transaction, results } = await Transaction.beginWith(pool, (client) => [
        insertDataset(client, pool, dataset, sections),
        insertItems(client, pool, this.#held),
      ]);
      this.#transaction = transaction;
      const [inserted, stored] = results;
      this.#stored = stored;
      return inserted;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** The COPY; a new one gets the rows that are held. */
  async #openCopy(): Promise<CopyIn> {
    if (this.#copy !== undefined) return this.#copy;
    this.#signal?.throwIfAborted();
    try {
      this.#transaction ??= await Transaction.begin(this.#pool);
    } catch (error) {
      throw toStoreError(error);
    }
    const copy = new CopyIn(this.#transaction.client, COPY_ITEMS, this.#signal);
    this.#copy = copy;
    for (const rows of this.#held) await copy.write(rows);
    this.#held = [];
    return copy;
  }

  async #endCopy(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#stored += await copy.end();
  }
}

/** What a promise resolves to. @throws the signal's reason, immediately */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
