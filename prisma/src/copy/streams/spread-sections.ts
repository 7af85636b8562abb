import type pg from 'pg';
import { toStoreError } from '../../database/errors.ts';
import { removeLooseSection } from '../../sections/collect-sections.ts';
import { addLooseSection, keepSections } from '../../sections/loose-sections.ts';
import type { EncodedRows } from '../encoded-rows.ts';
import type { RowEncoder } from '../row-encoder.ts';
import { ItemStreams } from './item-streams.ts';
import type { StreamPool } from './stream-pool.ts';

/** For how long a failed import removes rows that were committed; its caller waits for that. */
const REMOVE_MS = 2_000;

interface SpreadDeps {
  readonly pool: pg.Pool;
  readonly encoder: Pick<RowEncoder, 'recycle'>;
  /** Connections that help; null for none. */
  readonly streams: StreamPool | null;
  readonly signal: AbortSignal | undefined;
}

/** Runs statements in the transaction that makes the sections visible. */
type Run = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>;

/**
 * Sections of an import whose rows several streams copy. Each is noted before, so that its rows are kept if the import
 * commits, and removed if not.
 */
export class SpreadSections {
  readonly #deps: SpreadDeps;
  readonly #ids: string[] = [];
  /** Undefined before the first section; null where no connections are to be had. */
  #streams: ItemStreams | null | undefined;
  /** Number of the transaction that makes the sections visible. */
  #transactionId = '';
  #client: pg.ClientBase | undefined;

  constructor(deps: SpreadDeps) {
    this.#deps = deps;
  }

  /** Begins a section that the streams copy from here on. @returns false where one transaction has to copy it alone */
  async begin(sectionId: string, run: Run): Promise<boolean> {
    const { pool, streams, signal } = this.#deps;
    if (streams === null) return false;
    if (this.#streams === undefined) {
      this.#transactionId = await run(beginSpread);
      this.#streams = await ItemStreams.open(streams, signal);
      await run(async (client) => this.#watch(client));
    }
    if (this.#streams === null) return false;
    try {
      await addLooseSection(pool, sectionId, this.#transactionId);
    } catch (error) {
      throw toStoreError(error);
    }
    this.#ids.push(sectionId);
    await this.#streams.enter(sectionId);
    return true;
  }

  /** Copies batches of the section, and gives their buffers back. @throws as `ItemStreams.write` */
  async write(batches: AsyncGenerator<EncodedRows>): Promise<void> {
    await this.#streams?.write(batches, this.#deps.encoder);
  }

  /** Ends every COPY. @returns the rows that the server counted so far @throws as `CopyIn.end` */
  async endCopy(): Promise<number> {
    return (await this.#streams?.endCopy()) ?? 0;
  }

  /** Commits the rows, and keeps them if the transaction commits. @throws StoreError `unavailable` */
  async join(run: Run): Promise<void> {
    if (this.#ids.length === 0) return;
    await this.#streams?.commit();
    await run((client) => keepSections(client, this.#ids));
  }

  /** Does not look at the connection of the transaction any more. */
  unwatch(): void {
    this.#client?.off('error', this.#onLost);
  }

  /** Ends the streams. Never throws. @param isCommitted whether the rows are kept */
  async end(isCommitted: boolean): Promise<void> {
    await this.#streams?.[Symbol.asyncDispose]();
    if (isCommitted || this.#streams?.mayHaveCommitted !== true) return;
    const { pool, signal } = this.#deps;
    const late = AbortSignal.timeout(REMOVE_MS);
    const stop = signal === undefined ? late : AbortSignal.any([signal, late]);
    for (const id of this.#ids.splice(0)) {
      // What cannot be removed now is collected later. An import that is aborted does not wait for that.
      await removeLooseSection(pool, id, stop, REMOVE_MS).catch(() => undefined);
    }
  }

  #watch(client: pg.ClientBase): void {
    this.#client = client;
    client.on('error', this.#onLost);
  }

  /** Without the transaction that makes them visible, the streams need not go on. */
  readonly #onLost = (error: unknown): void => this.#streams?.fail(toStoreError(error));
}

/** The transaction waits while streams copy, however long that takes. @returns its number */
async function beginSpread(client: pg.ClientBase): Promise<string> {
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  return rows[0]?.id ?? '';
}
