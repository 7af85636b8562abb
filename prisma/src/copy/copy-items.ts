import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { StoreError } from '../database/errors.ts';

/** How long a server may take to confirm that a COPY was broken off, before its connection is given up. */
const ABORT_TIMEOUT_MS = 5_000;

/**
 * The buffer of a chunk is its owner's again when the next one is asked for. A chunk that is larger than what the
 * connection queues by itself is waited for until it is sent; a smaller one may linger, so a copy of it is sent.
 */
const MAX_DRAINED_BYTES = 128 * 1024;

/**
 * Sends chunks of rows to a COPY statement as fast as the server takes them, holding one chunk.
 *
 * A throw from `chunks`, an error of the server or an abort ends the COPY; the connection is then ready for
 * ROLLBACK, unless it is broken.
 *
 * @param statement COPY ... FROM STDIN
 * @returns the number of rows that the server counted
 * @throws the reason of `signal`, what `chunks` throws, what the server says
 */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<number> {
  signal?.throwIfAborted();
  const copy = client.query(copyFrom(statement));
  const iterator = chunks[Symbol.asyncIterator]();

  // One wait at a time: whatever stops the COPY rejects it.
  let failure: { readonly error: unknown } | undefined;
  let rejectWait: ((error: unknown) => void) | undefined;
  const stop = (error: unknown): void => {
    failure ??= { error };
    rejectWait?.(failure.error);
  };
  const waitFor = <T>(promise: Promise<T>): Promise<T> =>
    new Promise<T>((done, fail) => {
      if (failure !== undefined) fail(failure.error);
      rejectWait = fail;
      promise.then(done, fail);
    });
  const onAbort = (): void => stop(signal?.reason);
  copy.on('error', stop);
  signal?.addEventListener('abort', onAbort, { once: true });

  let exhausted = false;
  try {
    for (;;) {
      const { done, value } = await waitFor(iterator.next());
      if (done === true) break;
      if (value.byteLength === 0) continue;
      const chunk = value.byteLength < MAX_DRAINED_BYTES ? Buffer.from(value) : value;
      await waitFor(new Promise<void>((written) => copy.write(chunk, () => written())));
    }
    exhausted = true;
    await waitFor(new Promise<void>((finished) => copy.end(finished)));
    if (failure !== undefined) throw failure.error;
    return copy.rowCount;
  } catch (error) {
    // What ended the COPY, before the server's own word that it was broken off.
    failure ??= { error };
    if (!exhausted) iterator.return?.().then(undefined, () => undefined);
    await breakOff(client, copy);
    throw asStoreError(failure.error);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Tells the server that the COPY failed and waits for its word, so that the connection can be used again. A server
 * that does not answer loses the connection: whatever waits on it fails, instead of waiting for ever.
 */
async function breakOff(client: pg.ClientBase, copy: ReturnType<typeof copyFrom>): Promise<void> {
  if (copy.destroyed || copy.writableFinished) return;
  await new Promise<void>((done) => {
    const timer = setTimeout(() => {
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
      done();
    }, ABORT_TIMEOUT_MS);
    copy.once('close', () => {
      clearTimeout(timer);
      done();
    });
    copy.destroy(new Error('the import was broken off'));
  });
}

/** The one thing about a row that the server may refuse: that it is too large for it. */
function asStoreError(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const tooLarge =
    code === '54000' || (code === 'XX000' && String(message).startsWith('invalid memory alloc request size'));
  if (!tooLarge) return error;
  return new StoreError('invalid_request', 'An item is larger than the database can hold (1 GB).', {
    cause: error,
  });
}
