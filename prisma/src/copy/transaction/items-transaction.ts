import { hasCommitted, type Pool, Transaction } from '@svc/postgres';
import type pg from 'pg';
import { StoreError, toStoreError } from '../../database/errors.ts';
import { CopyIn } from '../copy-in.ts';
import { COPY_ITEMS } from '../encode-rows.ts';
import type { EncodedRows } from '../encoded-rows.ts';
import type { RowEncoder } from '../row-encoder.ts';
import { SpreadSections } from '../streams/spread-sections.ts';
import type { StreamPool } from '../streams/stream-pool.ts';
import { HeldRows } from './held-rows.ts';
import { SectionSource, type TransactionStep } from './section-source.ts';

/** Rows of a section that are copied before further connections help: the others need not wait for a small import. */
const SPREAD_BYTES = 8 * 1024 * 1024;

export interface ItemsTransactionDeps {
  readonly pool: Pool;
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
  /** Those whose rows further connections copy. */
  readonly #spread: SpreadSections;
  #isCommitted = false;

  constructor(deps: ItemsTransactionDeps) {
    this.#deps = deps;
    this.#spread = new SpreadSections(deps);
  }

  /** The rows so far, if nothing has been sent to the server; else null. */
  get heldRows(): HeldRows | null {
    return this.#transaction === undefined && !this.#held.isEmpty ? this.#held : null;
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
    const { streams, signal, encoder } = this.#deps;
    const source = new SectionSource(batches, encoder);
    let maxBytes = streams === null ? Number.POSITIVE_INFINITY : SPREAD_BYTES;
    if (this.#transaction === undefined) await source.hold(this.#held, signal);
    if (source.end === 'rows') await this.#copyPart(source, maxBytes);
    while (source.end !== 'nothing') {
      const { end } = source;
      if (typeof end === 'function') await source.between(() => this.run(end));
      else if (await source.between(() => this.#spread.begin(sectionId, this.#run))) {
        await this.#spread.write(this.#withSteps(source));
        return;
      } else maxBytes = Number.POSITIVE_INFINITY;
      await this.#copyPart(source, maxBytes);
    }
  }

  /** Ends every COPY. @returns the rows, without those that are held back, that the server counted so far @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    await this.#endOwnCopy();
    return this.#copied + (await this.#spread.endCopy());
  }

  /**
   * Makes the rows of all streams part of this transaction: it sees them from now on. Call it after the row of the dataset
   * is inserted.
   *
   * @throws StoreError `unavailable`
   */
  async join(): Promise<void> {
    await this.#spread.join(this.#run);
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
    this.#spread.unwatch();
    await this.#transaction?.[Symbol.asyncDispose]();
    await this.#spread.end(this.#isCommitted);
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
  async #copyPart(source: SectionSource, maxBytes: number): Promise<void> {
    this.#copy ??= await source.between(() => this.#openCopy());
    await this.#copy.write(source.rows(maxBytes));
  }

  /** The batches that are left. Steps run while the streams send what they have: this transaction copies nothing then. */
  async *#withSteps(source: SectionSource): AsyncGenerator<EncodedRows> {
    for (;;) {
      yield* source.batches();
      const { end } = source;
      if (typeof end !== 'function') return;
      await source.between(() => this.run(end));
    }
  }

  readonly #run = <T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> => this.run(work);

  async #endOwnCopy(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#copied += await copy.end();
  }
}
