import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { interruptible } from '../../concurrency/index.ts';
import { destroySocket, socketOf } from '../postgres/pg-internals.ts';
import { COPY_HEADER, COPY_TRAILER } from './copy-format.ts';
import { StoreError, toStoreError } from './errors.ts';

/** How long a server may take to confirm that a COPY was aborted, before its connection is closed. */
const ABORT_TIMEOUT_MS = 5_000;

/**
 * A chunk of this size, more than what the connection queues by itself, is waited for until it is sent. Of smaller ones copies
 * are sent, together.
 */
const MAX_QUEUED_BYTES = 128 * 1024;

/**
 * A `COPY ... FROM STDIN (FORMAT binary)` that is open for rows. It sends them as fast as the server takes them and holds
 * one chunk. After an error or an abort the connection is ready for ROLLBACK, unless it is broken.
 */
export class CopyIn {
  readonly #client: pg.ClientBase;
  readonly #copy: ReturnType<typeof copyFrom>;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#stop(this.#signal?.reason);
  #failure: { readonly error: unknown } | undefined;
  #rejectWait: ((error: unknown) => void) | undefined;
  #queued: Uint8Array[] = [COPY_HEADER];
  #queuedBytes = 0;

  /** @throws the reason of `signal` when it is aborted already */
  constructor(client: pg.ClientBase, statement: string, signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#client = client;
    this.#signal = signal;
    this.#copy = client.query(copyFrom(statement));
    this.#copy.on('error', (error) => this.#stop(asStoreError(error)));
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Sends rows, or queues a few; when this resolves, the chunk's memory is its owner's again.
   *
   * @throws the reason of the signal; StoreError `unavailable`, `invalid_request` for a row that is too large for the server
   */
  async write(chunk: Uint8Array): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure.error;
      const isSmall = chunk.byteLength < MAX_QUEUED_BYTES;
      if (isSmall) {
        this.#queued.push(Buffer.from(chunk));
        this.#queuedBytes += chunk.byteLength;
        if (this.#queuedBytes < MAX_QUEUED_BYTES) return;
      }
      if (this.#queued.length > 0) await this.#send(this.#takeQueued());
      if (!isSmall) await this.#send(chunk);
    } catch (error) {
      throw await this.abort(error);
    }
  }

  /** Sends all rows of a source, and closes it without waiting when the server reports an error or on an abort. */
  async writeAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of interruptible(chunks, (next) => this.wait(next))) await this.write(chunk);
    } catch (error) {
      throw await this.abort(error);
    }
  }

  /** Ends the COPY. @returns the number of rows that the server counted @throws as {@link write} */
  async end(): Promise<number> {
    try {
      this.#queued.push(COPY_TRAILER);
      const end = this.#takeQueued();
      const socket = socketOf(this.#client);
      socket.cork();
      // The end of the data follows in this turn of the event loop.
      setImmediate(() => socket.uncork());
      await this.wait(new Promise<void>((finished) => this.#copy.end(end, finished)));
      if (this.#failure !== undefined) throw this.#failure.error;
      return this.#copy.rowCount;
    } catch (error) {
      throw await this.abort(error);
    } finally {
      this.#signal?.removeEventListener('abort', this.#onAbort);
    }
  }

  /**
   * Aborts the COPY and waits for the server's acknowledgement, so that the connection can be used again. The connection
   * of a server that does not answer is closed. Does nothing to a COPY that has ended.
   *
   * @returns what ended the COPY: an earlier error, else `cause`
   */
  async abort(cause: unknown): Promise<unknown> {
    this.#failure ??= { error: cause };
    this.#signal?.removeEventListener('abort', this.#onAbort);
    const copy = this.#copy;
    if (!copy.destroyed && !copy.writableFinished) {
      await new Promise<void>((done) => {
        const timer = setTimeout(() => {
          destroySocket(this.#client);
          done();
        }, ABORT_TIMEOUT_MS);
        copy.once('close', () => {
          clearTimeout(timer);
          done();
        });
        copy.destroy(new Error('The import was aborted.'));
      });
    }
    return this.#failure.error;
  }

  #stop(error: unknown): void {
    this.#failure ??= { error };
    this.#rejectWait?.(this.#failure.error);
  }

  #takeQueued(): Buffer {
    const bytes = Buffer.concat(this.#queued);
    [this.#queued, this.#queuedBytes] = [[], 0];
    return bytes;
  }

  #send(bytes: Uint8Array): Promise<void> {
    // The length of a chunk goes along with it, not before it: each write wakes the server.
    const socket = socketOf(this.#client);
    socket.cork();
    try {
      return this.wait(new Promise<void>((written) => this.#copy.write(bytes, () => written())));
    } finally {
      socket.uncork();
    }
  }

  /** Waits for one thing at a time; whatever stops the COPY rejects it. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((done, fail) => {
      if (this.#failure !== undefined) fail(this.#failure.error);
      this.#rejectWait = fail;
      promise.then(done, fail);
    });
  }
}

/** An error of the server. The one thing about a row that it may refuse is that it is too large. */
function asStoreError(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const tooLarge =
    code === '54000' || (code === 'XX000' && String(message).startsWith('invalid memory alloc request size'));
  if (!tooLarge) return toStoreError(error);
  return new StoreError('invalid_request', 'Item exceeds the maximum size of the database (1 GB).', {
    cause: error,
  });
}
