import { setTimeout as delay } from 'node:timers/promises';
import type { DatasetSummary, ImportOutcome } from '@svc/flows';
import type pg from 'pg';
import { copyIn } from '../copy/copy-items.ts';
import { COPY_HEADER, COPY_ITEMS, COPY_TRAILER } from '../copy/encode-rows.ts';
import { inTransaction } from '../database/connection.ts';
import { StoreError, toStoreError } from '../database/errors.ts';
import { storableText } from '../database/values.ts';
import {
  completeClaim,
  type IdempotencyClaim,
  type StoredResponse,
} from '../idempotency/idempotency-store.ts';
import { completeJob, type JobClaim } from '../jobs/job-store.ts';
import type { Semaphore } from '../semaphore.ts';

export interface SaveOptions {
  readonly signal?: AbortSignal;
  /** the job that imports: it succeeds in the same transaction, or nothing is stored */
  readonly job?: JobClaim;
  /** the request's key: its answer is stored in the same transaction, or nothing is */
  readonly idempotency?: {
    readonly claim: IdempotencyClaim;
    readonly answer: (dataset: DatasetSummary) => StoredResponse;
  };
}

/** Sections that a summary names. */
export const SUMMARY_SECTIONS = 100;

/**
 * Stores a dataset in one transaction: rows → COPY → dataset and sections → commit. See
 * `DatasetWriter.saveDataset` in @svc/flows.
 *
 * @param rows what the store's own row encoder made
 * @throws StoreError `invalid_request`, `superseded`, `job_finished`, `unavailable`; whatever `rows`, `finish` or the signal throw
 */
export async function saveDataset(
  { pool, imports }: { readonly pool: pg.Pool; readonly imports: Semaphore },
  rows: AsyncIterable<Uint8Array>,
  finish: () => ImportOutcome | Promise<ImportOutcome>,
  options: SaveOptions = {},
): Promise<DatasetSummary> {
  const leave = await imports.enter(options.signal);
  let written: Written | undefined;
  try {
    return await inTransaction(pool, async (client) => {
      const count = await copyIn(client, COPY_ITEMS, framed(rows), options.signal);
      const outcome = await finish();
      if (count !== outcome.dataset.itemCount) {
        throw new Error(`${count} items were copied, ${outcome.dataset.itemCount} were counted`);
      }
      options.signal?.throwIfAborted();
      const { summary, transaction } = await insertDataset(client, outcome);
      await insertSections(client, outcome);
      if (options.job !== undefined) await completeJob(client, options.job, summary.id);
      if (options.idempotency !== undefined) {
        const { claim, answer } = options.idempotency;
        await completeClaim(client, claim, answer(summary));
      }
      options.signal?.throwIfAborted();
      written = { summary, transaction };
      return summary;
    });
  } catch (error) {
    const named = toStoreError(error);
    // The connection broke while the server committed: whoever asked is told what became of it.
    const isOpen = named instanceof StoreError && named.code === 'unavailable';
    if (written !== undefined && isOpen && (await hasCommitted(pool, written.transaction))) {
      return written.summary;
    }
    throw named;
  } finally {
    leave();
  }
}

/** A dataset whose transaction lacks nothing but its commit. */
interface Written {
  readonly summary: DatasetSummary;
  /** number of the transaction */
  readonly transaction: string;
}

/** How long an import whose commit got no answer waits for the database to be there again, and how often it asks. */
const COMMIT_WAIT_MS = 5_000;
const COMMIT_POLL_MS = 100;

/** Whether a transaction took place. False also where it cannot be known in time. */
async function hasCommitted(pool: pg.Pool, transaction: string): Promise<boolean> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < COMMIT_WAIT_MS) {
    const status = await pool
      .query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [transaction])
      .then(
        ({ rows }) => rows[0]?.status ?? null,
        () => 'unknown',
      );
    if (status === 'committed') return true;
    if (status !== 'in progress' && status !== 'unknown') return false;
    await delay(COMMIT_POLL_MS);
  }
  return false;
}

async function* framed(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield COPY_HEADER;
  yield* rows;
  yield COPY_TRAILER;
}

async function insertDataset(client: pg.ClientBase, outcome: ImportOutcome): Promise<Written> {
  const { dataset, sections } = outcome;
  const { rows } = await client.query<{ created_at: Date; transaction: string }>(
    // the time of the commit, not of the transaction's start: lists show the newest first
    `INSERT INTO datasets (id, name, description, notes, source, version_hash, schema, section_count, item_count,
       asset_count, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now, now FROM clock_timestamp() AS now
     RETURNING created_at, pg_current_xact_id()::text AS transaction`,
    [
      dataset.id,
      storableText('name', dataset.name),
      dataset.description === null ? null : storableText('description', dataset.description),
      dataset.notes === null ? null : storableText('notes', dataset.notes),
      dataset.source,
      dataset.versionHash,
      dataset.schema,
      sections.length,
      dataset.itemCount,
      dataset.assetCount,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the dataset was not inserted');
  const { created_at: createdAt, transaction } = row;
  const summary: DatasetSummary = {
    ...dataset,
    sectionCount: sections.length,
    sections: sections
      .slice(0, SUMMARY_SECTIONS)
      .map(({ id, name, orderIndex, itemCount }) => ({ id, name, orderIndex, itemCount })),
    createdAt,
    updatedAt: createdAt,
  };
  return { summary, transaction };
}

async function insertSections(client: pg.ClientBase, { dataset, sections }: ImportOutcome): Promise<void> {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  await client.query(
    `INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash, file_bytes, file_sha256)
     SELECT id, $1, name, order_index, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex')
     FROM unnest($2::uuid[], $3::text[], $4::int[], $5::int[], $6::text[], $7::bigint[], $8::text[])
       AS section (id, name, order_index, item_count, section_hash, file_bytes, file_sha256)`,
    [
      dataset.id,
      sections.map(({ id }) => id),
      sections.map(({ name }) => storableText('name of a section', name)),
      sections.map(({ orderIndex }) => orderIndex),
      sections.map(({ itemCount }) => itemCount),
      sections.map(({ sectionHash }) => hex(sectionHash)),
      sections.map(({ exportFile }) => exportFile?.bytes ?? null),
      sections.map(({ exportFile }) => (exportFile === null ? null : hex(exportFile.sha256))),
    ],
  );
}
