import { type Pool, prepared } from '@svc/postgres';
import type pg from 'pg';
import { type DatasetSummary, SUMMARY_SECTIONS } from '../database/dataset-row.ts';
import { storableText } from '../database/values.ts';
import { checkHandle, toHandleTaken } from '../versions/handle.ts';
import { toColumns } from '../versions/ranges.ts';
import type { DatasetMeta, NewDatasetTarget } from './draft-content.ts';
import type { SectionRecord } from './draft-totals.ts';

export interface NewDataset extends DatasetMeta, Pick<NewDatasetTarget, 'handle' | 'message' | 'author'> {
  /** UUID */
  readonly id: string;
  /** 64 hex digits. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly assetCount: number;
}

const INSERT_PARTS = `INSERT INTO parts (id, dataset_id, item_count, hash_state)
  SELECT id, $1, item_count, decode(state, 'hex') FROM unnest($2::uuid[], $3::int[], $4::text[]) AS part (id, item_count, state)`;

/** Arrays of parts are texts: an array of arrays has them all of one length. */
const INSERT_SECTIONS = `INSERT INTO sections (id, dataset_id, name, item_count, section_hash, file_bytes, file_sha256, part_ids,
    starts, firsts)
  SELECT id, $1, name, item_count, decode(section_hash, 'hex'), file_bytes, decode(file_sha256, 'hex'), part_ids::uuid[],
    starts::int[], firsts::int[]
  FROM unnest($2::uuid[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[])
    AS section (id, name, item_count, section_hash, file_bytes, file_sha256, part_ids, starts, firsts)`;

/** The first version of a dataset. */
const INSERT_VERSION = `INSERT INTO versions (dataset_id, version, version_hash, section_ids, item_count, asset_count, message, author,
    source, created_at)
  SELECT id, version, $2, $3::uuid[], $4, $5, $6, $7, CASE source WHEN 'hub' THEN 'hub' ELSE 'upload' END, created_at
  FROM datasets WHERE id = $1`;

/** The time is that of the commit, not of the transaction's start: lists show the newest first. */
const INSERT_DATASET = `INSERT INTO datasets (id, name, handle, description, notes, source, schema, created_at, updated_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, now, now FROM clock_timestamp() AS now
  RETURNING created_at, pg_current_xact_id()::text AS transaction`;

/** Checks that the texts of a dataset can be stored. @throws StoreError `invalid_request` that names the field */
export function checkTexts(
  { name, handle, message, description, notes }: NewDataset,
  sections: readonly SectionRecord[],
): void {
  storableText('name', name);
  if (handle !== null) checkHandle(handle);
  if (message !== null) storableText('message', message);
  if (description !== null) storableText('description', description);
  if (notes !== null) storableText('notes', notes);
  for (const section of sections) storableText('name of a section', section.name);
}

/** When a dataset was created, and the number of the transaction. */
export interface InsertedDataset {
  readonly createdAt: Date;
  readonly transactionId: string;
}

/** Inserts a dataset with its first version, by statements that are sent before this returns. */
export async function insertDataset(
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
  const send = (name: string, sql: string, values: readonly unknown[]): Promise<pg.QueryResult> =>
    client.query(prepared(pool, name, sql, values));
  const [{ rows }] = await Promise.all([
    send('insert_dataset', INSERT_DATASET, [id, name, handle, description, notes, source, schema]).catch(
      (error: unknown) => {
        throw toHandleTaken(error, handle);
      },
    ),
    send('insert_version', INSERT_VERSION, [id, versionHash, ids, ...counts, message, author]),
    send('insert_parts', INSERT_PARTS, [
      id,
      parts.map(({ partId }) => partId),
      parts.map(({ count }) => count),
      parts.map(({ state }) => state),
    ]),
    send('insert_sections', INSERT_SECTIONS, [id, ids, ...columns]),
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
    handle: dataset.handle,
    version: 1,
    versionCount: 1,
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
