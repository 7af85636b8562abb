import { type Pool, prepared } from '@svc/postgres';
import type pg from 'pg';
import {
  type DatasetSource,
  type DatasetSummary,
  NO_FILE_SHA256,
  SUMMARY_SECTIONS,
} from '../database/dataset-row.ts';
import { storableText } from '../database/values.ts';
import type { SectionRecord } from './section-totals.ts';

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

const INSERT_SECTIONS = `INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash, file_bytes, file_sha256)
  SELECT id, $1, name, order_index, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex')
  FROM unnest($2::uuid[], $3::text[], $4::int[], $5::int[], $6::text[], $7::bigint[], $8::text[])
    AS section (id, name, order_index, item_count, section_hash, file_bytes, file_sha256)`;

/** The time is that of the commit, not of the transaction's start: lists show the newest first. */
const INSERT_DATASET = `INSERT INTO datasets (id, name, description, notes, source, version_hash, schema, section_count,
    item_count, asset_count, created_at, updated_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now, now FROM clock_timestamp() AS now
  RETURNING created_at, pg_current_xact_id()::text AS transaction`;

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

/** When a dataset was created, and the number of the transaction. */
export interface InsertedDataset {
  readonly createdAt: Date;
  readonly transactionId: string;
}

/** Inserts a dataset, then its sections, by statements that are sent before this returns. */
export async function insertDataset(
  client: pg.ClientBase,
  pool: Pool,
  dataset: NewDataset,
  sections: readonly SectionRecord[],
): Promise<InsertedDataset> {
  const { id, name, description, notes, source, versionHash, schema, itemCount, assetCount } = dataset;
  const facts = [id, name, description, notes, source, versionHash, schema];
  const counts = [sections.length, itemCount, assetCount];
  const columns = [
    sections.map(({ id }) => id),
    sections.map(({ name }) => name),
    sections.map(({ orderIndex }) => orderIndex),
    sections.map(({ itemCount }) => itemCount),
    sections.map(({ sectionHash }) => hex(sectionHash)),
    sections.map(({ exportFile }) => exportFile?.bytes ?? 0),
    sections.map(({ exportFile }) => hex(exportFile?.sha256 ?? NO_FILE_SHA256)),
  ];
  const [{ rows }] = await Promise.all([
    client.query<{ created_at: Date; transaction: string }>(
      prepared(pool, 'insert_dataset', INSERT_DATASET, [...facts, ...counts]),
    ),
    client.query(prepared(pool, 'insert_sections', INSERT_SECTIONS, [id, ...columns])),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error('The dataset was not inserted.');
  return { createdAt: row.created_at, transactionId: row.transaction };
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
