import { interruptible } from '@svc/concurrency';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { destroySocket, socketOf } from '../postgres/pg-internals.ts';
import { COPY_HEADER, COPY_TRAILER } from './copy-format.ts';
import { StoreError, toStoreError } from './errors.ts';

/** How long a server may take to confirm that a COPY was aborted, before its connection is closed. */
const ABORT_TIMEOUT_MS = 5_000;

/**
 * A chunk that is larger than what the connection queues by itself is waited for until it is sent; a smaller one may
 * linger, so a copy of it is sent.
 */
const MAX_DRAINED_BYTES = 128 * 1024;

const NO_ROWS = new Uint8Array();

/**
 * A `COPY ... FROM STDIN (FORMAT binary)` that is open for rows. It sends them as fast as the server takes them and holds
 * one chunk. After an error or an abort the connection is ready for ROLLBACK, unless it is broken.
 */
export class CopyIn {
  readonly #client: pg.ClientBase;
  readonly #copy: ReturnType<typeof copyFrom>;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#stop(this.#signal?.reason);
  /** What ended the COPY early. */
  #failure: { readonly error: unknown } | undefined;
  #rejectWait: ((error: unknown) => void) | undefined;
  #hasBegun = false;

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
   * Sends rows; when this resolves, the chunk's memory is its owner's again.
   *
   * @throws the reason of the signal; StoreError `unavailable`, `invalid_request` for a row that is too large for the
   *   server
   */
  async write(chunk: Uint8Array): Promise<void> {
    if (chunk.byteLength === 0) return;
    try {
      if (chunk.byteLength < MAX_DRAINED_BYTES) await this.#send(this.#begun(chunk));
      else {
        if (!this.#hasBegun) await this.#send(this.#begun(NO_ROWS));
        await this.#send(chunk);
      }
    } catch (error) {
      throw await this.abort(error);
    }
  }

  /**
   * Sends all rows of a source, and closes it without waiting for it when the server reports an error or the signal is
   * aborted.
   *
   * @throws as {@link write}; what `chunks` throws, unchanged
   */
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
      const end = this.#begun(COPY_TRAILER);
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

  /** A copy of bytes, after the header if nothing was sent yet: small imports take fewer writes. */
  #begun(bytes: Uint8Array): Buffer {
    const copy = this.#hasBegun ? Buffer.from(bytes) : Buffer.concat([COPY_HEADER, bytes]);
    this.#hasBegun = true;
    return copy;
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
