import { untilAborted } from '@svc/concurrency';
import type pg from 'pg';
import { auditStatement } from '../audit/actor.ts';
import { COPY_HEADER, COPY_TRAILER, copiedRows, type RowFields } from '../database/copy-format.ts';
import { CopyIn } from '../database/copy-in.ts';
import { asStoreErrors, StoreError, toStoreError } from '../database/errors.ts';
import { IS_CLUSTER } from '../items/read-session.ts';
import { hasCommitted, type Pool, prepared, sendTogether, Transaction } from '../postgres/pool.ts';
import { toHandleTaken } from '../versions/handle.ts';
import { toColumns } from '../versions/ranges.ts';
import type { DatasetMeta, NewDatasetTarget } from './draft-content.ts';
import type { SectionRecord } from './draft-totals.ts';
import { COPY_ITEMS } from './encode/encode-rows.ts';

/** A dataset with what its first version is. */
export interface NewDataset extends DatasetMeta, Pick<NewDatasetTarget, 'handle' | 'message' | 'author'> {
  /** UUID */
  readonly id: string;
  /** 64 hex digits. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly assetCount: number;
}

export interface InsertedDataset {
  readonly createdAt: Date;
  readonly transactionId: string;
}

/** Rows up to this size are held. */
const MAX_HELD_BYTES = 64 * 1024;

/**
 * The rows of an import's parts, and the transaction that stores them. There are two ways in: rows of at most 64 KiB are
 * held in memory, and inserted with the dataset in one round trip; more of them are copied as they come.
 */
export class PartRows {
  readonly #pool: Pool;
  readonly #signal: AbortSignal | undefined;
  readonly #isRolledBack: boolean;
  /** Whether it is decided where many rows go. */
  #isStaged = false;
  #target = COPY_ITEMS;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #transaction: Transaction | undefined;
  #copy: CopyIn | undefined;
  #stored = 0;

  /** @param isRolledBack whether the rows are only compared: many of them leave nothing in tables and logs */
  constructor(pool: Pool, signal: AbortSignal | undefined, isRolledBack = false) {
    this.#pool = pool;
    this.#signal = signal;
    this.#isRolledBack = isRolledBack;
  }

  /** Adds rows; when this resolves, their memory is the caller's again. @throws as `CopyIn.write` */
  async write(rows: Uint8Array): Promise<void> {
    if (this.#transaction === undefined && this.#heldBytes + rows.byteLength <= MAX_HELD_BYTES) {
      this.#held.push(Buffer.from(rows));
      this.#heldBytes += rows.byteLength;
      return;
    }
    const copy = await this.#openCopy(this.#isRolledBack);
    await copy.write(rows);
  }

  /** Waits for rows; ends early when the signal is aborted or the COPY fails. */
  async wait<T>(rows: Promise<T>): Promise<T> {
    return this.#copy === undefined ? await untilAborted(rows, this.#signal) : await this.#copy.wait(rows);
  }

  /** Runs statements after the rows so far. @throws StoreError `unavailable`; what `work` throws */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#signal?.throwIfAborted();
    if (this.#held.length > 0) await this.#openCopy();
    else await this.#begin();
    await this.#endCopy();
    return await asStoreErrors(() => work((this.#transaction as Transaction).client));
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

  /** Rolls back what is not committed; further rows start anew. */
  async discard(): Promise<void> {
    const [copy, transaction] = [this.#copy, this.#transaction];
    this.#held = [];
    this.#heldBytes = 0;
    this.#copy = undefined;
    this.#transaction = undefined;
    this.#isStaged = false;
    this.#target = COPY_ITEMS;
    this.#stored = 0;
    await copy?.abort(new Error('The transaction was not committed.'));
    await transaction?.[Symbol.asyncDispose]();
  }

  async #insertHeld(dataset: NewDataset, sections: readonly SectionRecord[]): Promise<InsertedDataset> {
    const pool = this.#pool;
    this.#signal?.throwIfAborted();
    const { transaction, results } = await asStoreErrors(() =>
      Transaction.beginWith(pool, (client) => [
        insertDataset(client, pool, dataset, sections),
        insertItems(client, pool, this.#held),
      ]),
    );
    this.#transaction = transaction;
    this.#held = [];
    const [inserted, stored] = results;
    this.#stored = stored;
    return inserted;
  }

  /** The COPY; a new one gets the rows that are held. */
  async #openCopy(isStaged = false): Promise<CopyIn> {
    if (this.#copy !== undefined) return this.#copy;
    const { client } = await this.#begin();
    if (isStaged && !this.#isStaged) await this.#stage(client);
    const copy = new CopyIn(client, this.#target, this.#signal);
    this.#copy = copy;
    for (const rows of this.#held) await copy.write(rows);
    this.#held = [];
    return copy;
  }

  /** Lets the rows go to a temporary table, unless it would be on one node of a cluster only. */
  async #stage(client: pg.ClientBase): Promise<void> {
    this.#isStaged = true;
    const { rows } = await client.query<{ readonly isCluster: boolean }>(IS_CLUSTER);
    if (rows[0]?.isCluster === true) return;
    await client.query(STAGE);
    this.#target = COPY_ITEMS.replace('items', 'staged_items');
  }

  /** The transaction; a new one if there is none. */
  async #begin(): Promise<Transaction> {
    this.#signal?.throwIfAborted();
    this.#transaction ??= await asStoreErrors(() => Transaction.begin(this.#pool));
    return this.#transaction;
  }

  async #endCopy(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy !== undefined) this.#stored += await copy.end();
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
  RETURNING created_at, pg_current_xact_id()::text AS transaction`;

/** Inserts a dataset with its first version, by statements that are sent before this returns. */
async function insertDataset(
  client: pg.ClientBase,
  pool: Pool,
  dataset: NewDataset,
  sections: readonly SectionRecord[],
): Promise<InsertedDataset> {
  const { id, name, handle, message, author, description, notes, source, versionHash, schema } = dataset;
  const ids = sections.map(({ id }) => id);
  const columns = [
    sections.map(({ name }) => name),
    sections.map(({ itemCount }) => itemCount),
    sections.map(({ sectionHash }) => hex(sectionHash)),
    sections.map(({ exportFile }) => exportFile?.bytes ?? null),
    sections.map(({ exportFile }) => (exportFile === null ? null : hex(exportFile.sha256))),
    ...(['partIds', 'starts', 'firsts'] as const).map((column) =>
      sections.map((section) => `{${toColumns(section.parts)[column].join(',')}}`),
    ),
  ];
  const parts = sections.flatMap((section) =>
    section.parts.map((part) => {
      // Items are appended after the last part.
      const isLast = part === section.parts.at(-1);
      return { ...part, state: isLast ? hex(section.sectionHash) + hex(section.hashState) : null };
    }),
  );
  const counts = [dataset.itemCount, dataset.assetCount];
  const created = auditStatement(
    'dataset.create',
    { kind: 'dataset', id },
    { items: dataset.itemCount, assets: dataset.assetCount, sections: sections.length },
  );
  const send = (name: string, sql: string, values: readonly unknown[]): Promise<pg.QueryResult> =>
    client.query(prepared(pool, name, sql, values));
  const [{ rows }] = await Promise.all([
    send('insert_dataset', INSERT_DATASET, [id, name, handle, description, notes, source, schema]),
    send('insert_version', INSERT_VERSION, [id, versionHash, ids, ...counts, message, author]),
    send('insert_parts', INSERT_PARTS, [
      id,
      parts.map(({ partId }) => partId),
      parts.map(({ count }) => count),
      parts.map(({ state }) => state),
    ]),
    send('insert_sections', INSERT_SECTIONS, [id, ids, ...columns]),
    send('insert_audit', created.sql, created.values),
  ]).catch((error: unknown) => {
    // Not of the first statement alone: the errors of those after it, which it fails too, would come before its own.
    throw toHandleTaken(error, handle);
  });
  const [row] = rows;
  if (row === undefined) throw new Error('The dataset was not inserted.');
  return { createdAt: row.created_at, transactionId: row.transaction };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The columns of a row of `items` in the order of a COPY, with their types and how a statement takes their values. */
const COLUMNS: readonly (readonly [
  name: string,
  type: string,
  read: (row: RowFields, column: number) => unknown,
])[] = [
  ['part_id', 'uuid', (row, column) => row.view(column).toString('hex')],
  ['ordinal', 'int4', (row, column) => row.int32(column)],
  ['byte_length', 'int4', (row, column) => row.int32(column)],
  ['item_hash', 'bytea', (row, column) => row.view(column)],
  ['type', 'text', (row, column) => row.text(column)],
  ['payload', 'json', (row, column) => row.text(column)],
  ['answer', 'json', (row, column) => row.text(column)],
  ['checker', 'json', (row, column) => row.text(column)],
  ['assets', 'json', (row, column) => row.text(column)],
  ['linked_files', 'json', (row, column) => row.text(column)],
  ['linked_bytes', 'int8', (row, column) => (row.isNull(column) ? null : row.int64(column))],
  ['item_id', 'text', (row, column) => row.text(column)],
];

const NAMES = COLUMNS.map(([name]) => name).join(', ');
const ARRAYS = COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
const INSERT_ITEMS = `INSERT INTO items (${NAMES}) SELECT ${NAMES} FROM unnest(${ARRAYS}) AS item (${NAMES})`;

/** Inserts a few rows by one statement. @param rows as for a COPY @returns how many the server counted */
export async function insertItems(
  client: pg.ClientBase,
  pool: Pool,
  rows: readonly Buffer[],
): Promise<number> {
  const columns: unknown[][] = COLUMNS.map(() => []);
  for (const row of copiedRows([COPY_HEADER, ...rows, COPY_TRAILER])) {
    for (const [column, [, , read]] of COLUMNS.entries()) columns[column]?.push(read(row, column));
  }
  const { rowCount } = await client.query(prepared(pool, 'insert_items', INSERT_ITEMS, columns));
  return rowCount ?? 0;
}
