import type pg from 'pg';
import { StoreError, toStoreError } from '../database/errors.ts';
import { hasCommitted } from '../database/has-committed.ts';
import { Transaction } from '../database/transaction.ts';
import { removeLooseSection } from '../sections/collect-sections.ts';
import { addLooseSection, keepSections } from '../sections/loose-sections.ts';
import { CopyIn } from './copy-in.ts';
import { COPY_ITEMS } from './encode-rows.ts';
import type { EncodedRows } from './encoded-rows.ts';
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
 * A transaction that copies rows of `items`. It takes a connection on first use; disposing it rolls back.
 *
 * Of a large section, several streams may copy the rest of the rows, and commit them before this transaction inserts the
 * section's row and commits: until then nothing shows them, and if it does not, they are removed.
 */
export class ItemsTransaction implements AsyncDisposable {
  readonly #deps: ItemsTransactionDeps;
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
    try {
      this.#transaction ??= await Transaction.begin(this.#deps.pool);
      return await work(this.#transaction.client);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /**
   * Copies batches of a section, gives their buffers back, and runs steps that come among them.
   *
   * @throws as `CopyIn.write`; what a step throws
   */
  async write(sectionId: string, batches: AsyncIterable<EncodedRows | TransactionStep>): Promise<void> {
    const source = batches[Symbol.asyncIterator]();
    let limitBytes = this.#deps.streams === null ? Number.POSITIVE_INFINITY : SPREAD_BYTES;
    for (;;) {
      const end: PartEnd = {};
      this.#copy ??= await this.run(async (client) => new CopyIn(client, COPY_ITEMS, this.#deps.signal));
      await this.#copy.write(this.#rowsOfPart(source, limitBytes, end));
      if (end.reason === undefined) return;
      try {
        if (end.reason !== 'full') await this.run(end.reason);
        else if (await this.#spread(sectionId)) break;
        else limitBytes = Number.POSITIVE_INFINITY;
      } catch (error) {
        await source.return?.();
        throw error;
      }
    }
    await this.#streams?.write(this.#runSteps(source), this.#deps.encoder);
  }

  /** Ends every COPY. @returns the rows that the server counted so far @throws as `CopyIn.end` */
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
        const { done, value } = await source.next();
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
}

/** The transaction waits while streams copy, however long that takes. @returns its number */
async function beginSpread(client: pg.ClientBase): Promise<string> {
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  return rows[0]?.id ?? '';
}
