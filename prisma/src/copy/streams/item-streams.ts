import { Transaction } from '@svc/postgres';
import { toStoreError } from '../../database/errors.ts';
import { holdLooseSection } from '../../sections/loose-sections.ts';
import { CopyIn } from '../copy-in.ts';
import { COPY_ITEMS } from '../encode-rows.ts';
import type { EncodedRows } from '../encoded-rows.ts';
import type { RowEncoder } from '../row-encoder.ts';
import type { StreamPool } from './stream-pool.ts';

/** Takes the buffers of rows that were sent. */
type Recycler = Pick<RowEncoder, 'recycle'>;

/** How long a stream waits for the table. */
const LOCK_TIMEOUT_MS = 1_000;

/**
 * Starts the transaction of a stream, which may be idle for long between sections. It locks the table at once: a change of
 * the table that waits for the rows of the import would make later statements wait too, and the import waits for those.
 */
const BEGIN_STREAM = `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; LOCK TABLE items IN ROW EXCLUSIVE MODE; SET LOCAL lock_timeout = DEFAULT`;

/** A connection that copies rows in its own transaction. */
interface Stream {
  readonly transaction: Transaction;
  copy: CopyIn | undefined;
}

/**
 * Copies the rows of one import over several connections, each in its own transaction: as the rows hold their place in
 * their section, any connection may copy them. Every section must be noted before (`addLooseSection`), and nothing shows
 * the rows, committed or not, before the section has its row. The first failure of a connection stops all of them.
 */
export class ItemStreams implements AsyncDisposable {
  readonly #streams: readonly Stream[];
  readonly #share: Disposable;
  readonly #failing = new AbortController();
  readonly #signal: AbortSignal;
  #copied = 0;
  #mayHaveCommitted = false;

  private constructor(streams: readonly Stream[], share: Disposable, signal: AbortSignal | undefined) {
    this.#streams = streams;
    this.#share = share;
    this.#signal =
      signal === undefined ? this.#failing.signal : AbortSignal.any([signal, this.#failing.signal]);
  }

  /** Null where fewer than two connections can copy now, which one transaction alone serves as well. */
  static async open(connections: StreamPool, signal: AbortSignal | undefined): Promise<ItemStreams | null> {
    const share = connections.take();
    if (share === null) return null;
    const attempts = Array.from({ length: share.count }, () =>
      Transaction.begin(connections.pool, BEGIN_STREAM),
    );
    const opened = (await Promise.allSettled(attempts)).flatMap((attempt) =>
      attempt.status === 'fulfilled' ? [{ transaction: attempt.value, copy: undefined }] : [],
    );
    const streams = new ItemStreams(opened, share, signal);
    if (opened.length >= 2) return streams;
    await streams[Symbol.asyncDispose]();
    return null;
  }

  /** Whether some rows may be committed. */
  get mayHaveCommitted(): boolean {
    return this.#mayHaveCommitted;
  }

  /** Stops all streams: the import cannot end. */
  fail(error: unknown): void {
    this.#failing.abort(error);
  }

  /** Begins a section that was noted. @throws StoreError `unavailable` */
  async enter(sectionId: string): Promise<void> {
    await this.endCopy();
    await this.#all(({ transaction }) =>
      holdLooseSection(transaction.client, sectionId).catch(throwStoreError),
    );
  }

  /**
   * Copies batches, each by the stream that is free first, and gives their buffers back. Holds a batch for each stream.
   *
   * @param batches whose reader may be several at once, as those of an async generator
   * @throws as `CopyIn.write`
   */
  async write(batches: AsyncGenerator<EncodedRows>, recycler: Recycler): Promise<void> {
    try {
      await this.#all(async (stream) => {
        stream.copy ??= new CopyIn(stream.transaction.client, COPY_ITEMS, this.#signal);
        await stream.copy.write(rowsOf(batches, recycler));
      });
    } catch (error) {
      batches.return(undefined).catch(() => undefined);
      throw error;
    }
  }

  /** Ends the COPY of every stream. @returns the rows that the server counted so far @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    await this.#all(async (stream) => {
      const { copy } = stream;
      stream.copy = undefined;
      if (copy === undefined) return;
      const copied = await copy.end();
      this.#copied += copied;
    });
    return this.#copied;
  }

  /** Commits the rows, which nothing shows yet. @throws StoreError `unavailable`: some may be committed */
  async commit(): Promise<void> {
    this.#signal.throwIfAborted();
    this.#mayHaveCommitted = true;
    await this.#all(({ transaction }) => transaction.commit().catch(throwStoreError));
  }

  /** Rolls back what is not committed, and returns the connections. Never throws. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#streams.map(async ({ copy, transaction }) => {
        await copy?.abort(new Error('The transaction was not committed.'));
        await transaction[Symbol.asyncDispose]();
      }),
    );
    this.#share[Symbol.dispose]();
  }

  /** Does work on every stream. @throws the first failure, when all have ended */
  async #all(work: (stream: Stream) => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted();
    await Promise.allSettled(
      this.#streams.map(async (stream) => {
        try {
          await work(stream);
        } catch (error) {
          this.fail(error);
        }
      }),
    );
    this.#signal.throwIfAborted();
  }
}

/** The rows of batches that several readers share. */
async function* rowsOf(batches: AsyncGenerator<EncodedRows>, recycler: Recycler): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await batches.next();
    if (done === true) return;
    yield value.rows;
    recycler.recycle(value);
  }
}

function throwStoreError(error: unknown): never {
  throw toStoreError(error);
}
