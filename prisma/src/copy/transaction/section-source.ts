import type pg from 'pg';
import type { EncodedRows } from '../encoded-rows.ts';
import type { RowEncoder } from '../row-encoder.ts';
import type { HeldRows } from './held-rows.ts';

/** Statements between batches. */
export type TransactionStep = (client: pg.ClientBase) => Promise<void>;

/** What follows a part of a section: a step, more rows, or nothing. */
export type PartEnd = TransactionStep | 'rows' | 'nothing';

/** The batches of a section, which are read part by part. Whatever fails or stops on the way closes them. */
export class SectionSource {
  readonly #batches: AsyncIterator<EncodedRows | TransactionStep>;
  /** Takes the buffers of batches that were read. */
  readonly #encoder: Pick<RowEncoder, 'recycle'>;
  /** Read, and not part of anything yet. */
  #first: EncodedRows | undefined;
  #end: PartEnd = 'rows';

  constructor(batches: AsyncIterable<EncodedRows | TransactionStep>, encoder: Pick<RowEncoder, 'recycle'>) {
    this.#batches = batches[Symbol.asyncIterator]();
    this.#encoder = encoder;
  }

  /** What follows the last part. */
  get end(): PartEnd {
    return this.#end;
  }

  /** A part that is held: batches up to one for which there is no room. @throws the signal's reason, at once */
  async hold(held: HeldRows, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const batch = this.#take(await nextUntilAborted(this.#batches, signal));
      if (batch === undefined) return;
      if (!held.add(batch.rows)) {
        this.#first = batch;
        this.#end = 'rows';
        return;
      }
      this.#encoder.recycle(batch);
    }
  }

  /** A part: the rows of batches up to a step; the encoder gets their buffers again. A reader that stops early closes all. */
  async *rows(): AsyncGenerator<Uint8Array> {
    let isOpen = true;
    try {
      for (;;) {
        const batch = this.#first ?? this.#take(await this.#batches.next());
        this.#first = undefined;
        if (batch === undefined) {
          isOpen = false;
          return;
        }
        yield batch.rows;
        this.#encoder.recycle(batch);
      }
    } finally {
      if (isOpen) await this.#batches.return?.();
    }
  }

  /** Work between two parts. */
  async between<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#batches.return?.();
      throw error;
    }
  }

  /** The batch of a result; undefined, with the end of the part, for any other. */
  #take({ done, value }: IteratorResult<EncodedRows | TransactionStep>): EncodedRows | undefined {
    if (done !== true && typeof value !== 'function') return value;
    this.#end = done === true ? 'nothing' : (value as TransactionStep);
    return undefined;
  }
}

/** What comes next of a source. Ends at once when the signal aborts, and closes the source without waiting for it. */
async function nextUntilAborted<T>(
  source: AsyncIterator<T>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<T>> {
  if (signal === undefined) return await source.next();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => {
    aborted.reject(signal.reason);
    source.return?.().then(undefined, () => undefined);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([source.next(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
