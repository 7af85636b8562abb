import type pg from 'pg';
import type { SectionRecord } from '../copy/section-totals.ts';
import { prepared } from '../database/pool/limited-pool.ts';
import { storableText } from '../database/values.ts';
import { type DatasetSource, type DatasetSummary, NO_FILE_SHA256, SUMMARY_SECTIONS } from './dataset-row.ts';

/** What a caller says of a dataset; the items say the rest. */
export interface DatasetMeta {
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: DatasetSource;
  /** Provenance object as canonical JSON text, stored unchanged. */
  readonly schema: string;
}

export interface NewDataset extends DatasetMeta {
  /** UUID */
  readonly id: string;
  /** 64 hex digits. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly assetCount: number;
}

/** The time is that of the commit, not of the transaction's start: lists show the newest first. */
const INSERT_DATASET = `WITH inserted AS (
    INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash, file_bytes, file_sha256)
    SELECT id, $1, name, order_index, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex')
    FROM unnest($11::uuid[], $12::text[], $13::int[], $14::int[], $15::text[], $16::bigint[], $17::text[])
      AS section (id, name, order_index, item_count, section_hash, file_bytes, file_sha256)
  )
  INSERT INTO datasets (id, name, description, notes, source, version_hash, schema, section_count, item_count,
    asset_count, created_at, updated_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now, now FROM clock_timestamp() AS now
  RETURNING created_at, pg_current_xact_id()::text AS transaction`;

/**
 * Inserts a dataset and its sections by one statement, which is sent at once.
 *
 * @returns the dataset as stored, and the number of the transaction
 * @throws StoreError `invalid_request`
 */
export async function insertDataset(
  client: pg.ClientBase,
  pool: pg.Pool,
  dataset: NewDataset,
  sections: readonly SectionRecord[],
): Promise<{ readonly summary: DatasetSummary; readonly transactionId: string }> {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const { rows } = await client.query<{ created_at: Date; transaction: string }>(
    prepared(pool, 'insert_dataset', INSERT_DATASET, [
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
      sections.map(({ id }) => id),
      sections.map(({ name }) => storableText('name of a section', name)),
      sections.map(({ orderIndex }) => orderIndex),
      sections.map(({ itemCount }) => itemCount),
      sections.map(({ sectionHash }) => hex(sectionHash)),
      sections.map(({ exportFile }) => exportFile?.bytes ?? 0),
      sections.map(({ exportFile }) => hex(exportFile?.sha256 ?? NO_FILE_SHA256)),
    ]),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The dataset was not inserted.');
  const { id, name, description, notes, source, versionHash, schema, itemCount, assetCount } = dataset;
  const summary: DatasetSummary = {
    ...{ id, name, description, notes, source, versionHash, schema, itemCount, assetCount },
    sectionCount: sections.length,
    sections: sections.slice(0, SUMMARY_SECTIONS).map((section) => ({
      id: section.id,
      name: section.name,
      orderIndex: section.orderIndex,
      itemCount: section.itemCount,
    })),
    createdAt: row.created_at,
    updatedAt: row.created_at,
  };
  return { summary, transactionId: row.transaction };
}
