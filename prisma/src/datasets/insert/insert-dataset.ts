import { type Pool, prepared } from '@svc/postgres';
import type pg from 'pg';
import type { SectionRecord } from '../../copy/section-totals.ts';
import { type HeldRows, insertItems } from '../../copy/transaction/held-rows.ts';
import { storableText } from '../../database/values.ts';
import { type DatasetSource, type DatasetSummary, NO_FILE_SHA256, SUMMARY_SECTIONS } from '../dataset-row.ts';

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
const insertDatasetWith = (more: string, returning: string): string => `WITH inserted AS (
    INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash, file_bytes, file_sha256)
    SELECT id, $1, name, order_index, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex')
    FROM unnest($11::uuid[], $12::text[], $13::int[], $14::int[], $15::text[], $16::bigint[], $17::text[])
      AS section (id, name, order_index, item_count, section_hash, file_bytes, file_sha256)
  )${more}
  INSERT INTO datasets (id, name, description, notes, source, version_hash, schema, section_count, item_count,
    asset_count, created_at, updated_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now, now FROM clock_timestamp() AS now
  RETURNING created_at${returning}`;

const INSERT_DATASET = insertDatasetWith('', ', pg_current_xact_id()::text AS transaction');
const INSERT_WITH_ITEMS = insertDatasetWith(`, stored AS (${insertItems(18)})`, '');

/** Checks that the texts of a dataset can be stored. @throws StoreError `invalid_request` that names the field */
export function checkTexts(
  { name, description, notes }: NewDataset,
  sections: readonly SectionRecord[],
): void {
  storableText('name', name);
  if (description !== null) storableText('description', description);
  if (notes !== null) storableText('notes', notes);
  for (const section of sections) storableText('name of a section', section.name);
}

/**
 * Inserts a dataset and its sections by one statement, which is sent at once.
 *
 * @returns when it was created, and the number of the transaction
 */
export async function insertDataset(
  client: pg.ClientBase,
  pool: Pool,
  dataset: NewDataset,
  sections: readonly SectionRecord[],
): Promise<{ readonly createdAt: Date; readonly transactionId: string }> {
  const { rows } = await client.query<{ created_at: Date; transaction: string }>(
    prepared(pool, 'insert_dataset', INSERT_DATASET, parametersOf(dataset, sections)),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The dataset was not inserted.');
  return { createdAt: row.created_at, transactionId: row.transaction };
}

/**
 * Inserts a dataset with its sections and all of its items by one statement, outside a transaction.
 *
 * @returns when it was created
 */
export async function insertWithItems(
  client: pg.ClientBase,
  pool: Pool,
  dataset: NewDataset,
  sections: readonly SectionRecord[],
  items: HeldRows,
): Promise<Date> {
  const parameters = [...parametersOf(dataset, sections), ...items.columns()];
  const { rows } = await client.query<{ created_at: Date }>(
    prepared(pool, 'insert_with_items', INSERT_WITH_ITEMS, parameters),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The dataset was not inserted.');
  return row.created_at;
}

function parametersOf(dataset: NewDataset, sections: readonly SectionRecord[]): unknown[] {
  return [
    dataset.id,
    dataset.name,
    dataset.description,
    dataset.notes,
    dataset.source,
    dataset.versionHash,
    dataset.schema,
    sections.length,
    dataset.itemCount,
    dataset.assetCount,
    sections.map(({ id }) => id),
    sections.map(({ name }) => name),
    sections.map(({ orderIndex }) => orderIndex),
    sections.map(({ itemCount }) => itemCount),
    sections.map(({ sectionHash }) => hex(sectionHash)),
    sections.map(({ exportFile }) => exportFile?.bytes ?? 0),
    sections.map(({ exportFile }) => hex(exportFile?.sha256 ?? NO_FILE_SHA256)),
  ];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A dataset as it is stored. */
export function summaryOf(
  dataset: NewDataset,
  sections: readonly SectionRecord[],
  createdAt: Date,
): DatasetSummary {
  const { id, name, description, notes, source, versionHash, schema, itemCount, assetCount } = dataset;
  return {
    ...{ id, name, description, notes, source, versionHash, schema, itemCount, assetCount },
    sectionCount: sections.length,
    sections: sections.slice(0, SUMMARY_SECTIONS).map((section) => ({
      id: section.id,
      name: section.name,
      orderIndex: section.orderIndex,
      itemCount: section.itemCount,
    })),
    createdAt,
    updatedAt: createdAt,
  };
}
