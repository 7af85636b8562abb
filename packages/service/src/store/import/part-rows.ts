import type pg from 'pg';
import { untilAborted } from '../../concurrency/index.ts';
import { writeAudit } from '../audit/actor.ts';
import { CopyIn } from '../database/copy-in.ts';
import { asStoreErrors, StoreError, toStoreError } from '../database/errors.ts';
import { IS_CLUSTER } from '../items/read-session.ts';
import { hasCommitted, type Pool, Transaction } from '../postgres/pool.ts';
import { toHandleTaken } from '../versions/handle.ts';
import { toColumns } from '../versions/ranges.ts';
import type { DatasetMeta, NewDatasetTarget } from './draft-content.ts';
import type { SectionRecord } from './draft-totals.ts';
import { COPY_ITEMS } from './encode/encode-rows.ts';

export interface NewDataset extends DatasetMeta, Pick<NewDatasetTarget, 'handle' | 'message' | 'author'> {
  readonly id: string;
  readonly versionHash: string;
  readonly itemCount: number;
  readonly assetCount: number;
}

/** The rows of an import's parts, and the transaction that stores them, which begins with the first. */
export class PartRows {
  readonly #pool: Pool;
  readonly #signal: AbortSignal | undefined;
  readonly #isRolledBack: boolean;
  #target = COPY_ITEMS;
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #stored = 0;

  /** @param isRolledBack whether the rows are only compared: they leave nothing in tables and logs */
  constructor(pool: Pool, signal: AbortSignal | undefined, isRolledBack = false) {
    this.#pool = pool;
    this.#signal = signal;
    this.#isRolledBack = isRolledBack;
  }

  /** Adds rows; when this resolves, their memory is the caller's again. @throws as `CopyIn.write` */
  async write(rows: Uint8Array): Promise<void> {
    if (rows.byteLength === 0) return;
    if (this.#copy === undefined) {
      const client = await this.#begin();
      this.#copy = new CopyIn(client, this.#target, this.#signal);
    }
    await this.#copy.write(rows);
  }

  /** Waits for rows; ends early when the signal is aborted or the COPY fails. */
  async wait<T>(rows: Promise<T>): Promise<T> {
    return this.#copy === undefined ? await untilAborted(rows, this.#signal) : await this.#copy.wait(rows);
  }

  /** Runs statements after the rows so far. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = await this.#begin();
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#stored += await copy.end();
    return await asStoreErrors(() => work(client));
  }

  /** Inserts the dataset after all of its rows. @throws StoreError `unavailable` */
  async insertDataset(dataset: NewDataset, sections: readonly SectionRecord[]) {
    const inserted = await this.run((client) => insertDataset(client, dataset, sections));
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

  async discard(): Promise<void> {
    const [copy, transaction] = [this.#copy, this.#transaction];
    this.#copy = undefined;
    this.#transaction = undefined;
    this.#stored = 0;
    await copy?.abort(new Error('The transaction was not committed.'));
    await transaction?.[Symbol.asyncDispose]();
  }

  /** The connection of the transaction; of a new one if there is none. */
  async #begin(): Promise<pg.ClientBase> {
    this.#signal?.throwIfAborted();
    if (this.#transaction === undefined) {
      this.#transaction = await asStoreErrors(() => Transaction.begin(this.#pool));
      this.#target = COPY_ITEMS;
      if (this.#isRolledBack) await asStoreErrors(() => this.#stage());
    }
    return this.#transaction.client;
  }

  /** Lets the rows go to a temporary table, unless it would be on one node of a cluster only. */
  async #stage(): Promise<void> {
    const { client } = this.#transaction as Transaction;
    const { rows } = await client.query<{ readonly isCluster: boolean }>(IS_CLUSTER);
    if (rows[0]?.isCluster === true) return;
    await client.query(STAGE);
    this.#target = COPY_ITEMS.replace('items', 'staged_items');
  }
}

/** From here to its end, statements of the transaction take rows of the temporary table for rows of `items` too. */
const STAGE = `CREATE TEMPORARY TABLE staged_items (LIKE items INCLUDING INDEXES) ON COMMIT DROP;
  CREATE TEMPORARY VIEW items AS SELECT * FROM items UNION ALL SELECT * FROM staged_items;
  CREATE RULE insert_items AS ON INSERT TO items DO INSTEAD INSERT INTO staged_items VALUES (NEW.*);
  CREATE RULE delete_items AS ON DELETE TO items DO INSTEAD NOTHING`;

const INSERT_PARTS = `INSERT INTO parts (id, dataset_id, item_count, hash_state)
  SELECT id, $1, item_count, decode(state, 'hex') FROM unnest($2::uuid[], $3::int[], $4::text[]) AS part (id, item_count, state)`;

/** Arrays of parts are texts: an array of arrays has them all of one length. */
const INSERT_SECTIONS = `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, file_bytes, file_sha256, part_ids,
    starts, firsts)
  SELECT id, $1, name, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex'), part_ids::uuid[],
    starts::int[], firsts::int[]
  FROM unnest($2::uuid[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[])
    AS section (id, name, item_count, section_hash, file_bytes, file_sha256, part_ids, starts, firsts)`;

const INSERT_VERSION = `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, message, author,
    source, created_at)
  SELECT id, version, $2, $3::uuid[], $4, $5, $6, $7, CASE source WHEN 'hub' THEN 'hub' ELSE 'upload' END, created_at
  FROM datasets WHERE id = $1`;

/** The time is the time of the commit, not of the transaction's start: lists show the newest first. */
const INSERT_DATASET = `INSERT INTO datasets (id, name, handle, description, notes, source, schema, created_at, updated_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, now, now FROM clock_timestamp() AS now
  RETURNING created_at AS "createdAt", pg_current_xact_id()::text AS "transactionId"`;

async function insertDataset(client: pg.ClientBase, dataset: NewDataset, sections: readonly SectionRecord[]) {
  const { id, name, handle, message, author, description, notes, source, versionHash, schema } = dataset;
  const { rows } = await client
    .query<{ createdAt: Date; transactionId: string }>(INSERT_DATASET, [
      id,
      name,
      handle,
      description,
      notes,
      source,
      schema,
    ])
    .catch((error: unknown) => {
      throw toHandleTaken(error, handle);
    });
  const ids = sections.map(({ id }) => id);
  const counts = [dataset.itemCount, dataset.assetCount];
  await client.query(INSERT_VERSION, [id, versionHash, ids, ...counts, message, author]);
  const parts = sections.flatMap((section) =>
    section.parts.map((part) => {
      // Items are appended after the last part.
      const isLast = part === section.parts.at(-1);
      return { ...part, state: isLast ? hex(section.sectionHash) + hex(section.hashState) : null };
    }),
  );
  await client.query(INSERT_PARTS, [
    id,
    parts.map(({ partId }) => partId),
    parts.map(({ count }) => count),
    parts.map(({ state }) => state),
  ]);
  await client.query(INSERT_SECTIONS, [
    id,
    ids,
    sections.map(({ name }) => name),
    sections.map(({ itemCount }) => itemCount),
    sections.map(({ sectionHash }) => hex(sectionHash)),
    sections.map(({ exportFile }) => exportFile?.bytes ?? null),
    sections.map(({ exportFile }) => (exportFile === null ? null : hex(exportFile.sha256))),
    ...(['partIds', 'starts', 'firsts'] as const).map((column) =>
      sections.map((section) => `{${toColumns(section.parts)[column].join(',')}}`),
    ),
  ]);
  await writeAudit(
    client,
    'dataset.create',
    { kind: 'dataset', id },
    { items: dataset.itemCount, assets: dataset.assetCount, sections: sections.length },
  );
  return rows[0] as (typeof rows)[number];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
