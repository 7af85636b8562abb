import { canonicalJson, getMember, isJsonObject } from '@svc/jsonl-v23/json';
import type { ReadQuery } from '../postgres/read-query.ts';
import { StoreError } from './errors.ts';
import { readStoredJson } from './read-stored-json.ts';
import { boundedName, boundedText, shortened } from './values.ts';

export type DatasetSource = 'hub' | 'pkg_zip' | 'file';

export interface DatasetSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: DatasetSource;
  readonly handle: string | null;
  readonly version: number;
  readonly versionCount: number;
  readonly versionHash: string;
  readonly schema: string;
  readonly sectionCount: number;
  readonly itemCount: number;
  readonly assetCount: number;
  readonly sections: readonly SectionSummary[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SectionSummary {
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
}

export const SUMMARY_SECTIONS = 100;

export interface StoredSection extends SectionSummary {
  readonly sectionHash: Uint8Array;
  /** Size and SHA-256 of the section's file in an export; null when its items embed files. */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
}

export function datasetNotFound(id: string): StoreError {
  return new StoreError('dataset_not_found', `Dataset "${shortened(id)}" not found.`);
}

/** A schema that has more is shown as {@link TRUNCATED_SCHEMA}; an export has it whole. */
const MAX_SHOWN_SCHEMA_BYTES = 16 * 1024 * 1024;
const TRUNCATED_SCHEMA = `CASE source WHEN 'file' THEN '{"source":"file","files":null,"truncated":true}'
  WHEN 'hub' THEN '{"source":"hub","config":{},"truncated":true}'
  ELSE '{"source":"pkg_zip","package":null,"truncated":true}' END`;
/** A description or note that has more is shown cut; an export has it whole. */
const MAX_SHOWN_TEXT_BYTES = 1024 * 1024;

const shownText = (column: string): string =>
  `${boundedText(column, MAX_SHOWN_TEXT_BYTES, `left(${column}, 100000) || '…'`)} AS ${column}`;

/** What the provenance of a version `v` says that its dataset `d` does not say. */
const ofVersion = (expression: string): string =>
  `(SELECT ${expression} FROM provenance p WHERE p.dataset_id = v.dataset_id AND p.version <@ v.sources`;
const ofWhole = (column: 'source' | 'schema'): string =>
  `CASE WHEN v.sources IS NULL THEN d.${column} ELSE coalesce(${ofVersion(`p.${column}`)} AND p.version = lower(v.sources)), d.${column}) END`;

/**
 * Where the items of a version `v` of a dataset `d` come from: `source`, `schema`, and the files of items that were added, which
 * {@link withAddedFiles} adds to the schema.
 */
export const PROVENANCE: string = `${ofWhole('source')} AS source, ${ofWhole('schema')} AS schema,
  CASE WHEN v.sources IS NOT NULL THEN ${ofVersion("string_agg(p.files, ',' ORDER BY p.version)")} AND p.source IS NULL) END AS added_files`;

/** The rows that the columns of a dataset are read from: each dataset with one of its versions. @param version SQL */
export const datasetsWith = (version = 'd.version'): string => `(
    SELECT d.id, d.name, d.handle, d.description, d.notes, d.version_count, d.created_at, d.updated_at,
      v.version, v.version_hash, v.item_count, v.asset_count, cardinality(v.section_ids) AS section_count, ${PROVENANCE}
    FROM datasets d JOIN versions v ON v.dataset_id = d.id AND v.version = ${version}
  ) AS datasets`;

const FIXED_COLUMNS = `id, source, handle, version, version_count AS "versionCount", version_hash AS "versionHash", section_count AS "sectionCount",
  item_count AS "itemCount", asset_count AS "assetCount", created_at AS "createdAt", updated_at AS "updatedAt"`;

export const SCHEMA_BYTES = '(octet_length(schema)::bigint + coalesce(octet_length(added_files), 0))';

/** The schema of a version under the names of {@link DatasetRow}, unless it is larger than may be shown. @param maxBytes unless it is of the hub */
export function shownSchema(maxBytes: number = MAX_SHOWN_SCHEMA_BYTES): string {
  const isLarge = `${SCHEMA_BYTES} > CASE source WHEN 'hub' THEN ${MAX_SHOWN_SCHEMA_BYTES} ELSE ${maxBytes} END`;
  return `CASE WHEN ${isLarge} THEN ${TRUNCATED_SCHEMA} ELSE schema END AS schema,
    CASE WHEN ${isLarge} THEN NULL ELSE added_files END AS "addedFiles"`;
}

export function shownDataset(maxSchemaBytes?: number): string {
  return `${FIXED_COLUMNS}, ${boundedName('name')} AS name, ${shownText('description')}, ${shownText('notes')}, ${shownSchema(maxSchemaBytes)}`;
}

/** The same, all texts whole: to be asked for only where {@link DATASET_BYTES} are known. */
export const WHOLE_DATASET: string = `${FIXED_COLUMNS}, name, description, notes, schema, added_files AS "addedFiles"`;

export const DATASET_BYTES: string = `octet_length(name)::bigint + coalesce(octet_length(description), 0)
  + coalesce(octet_length(notes), 0) + ${SCHEMA_BYTES}`;

export interface DatasetRow extends Omit<DatasetSummary, 'sections'> {
  readonly addedFiles: string | null;
}

/** What was read of a version, with the files of added items in its schema. @throws StoreError `corrupt` */
export function withAddedFiles<T extends { readonly schema: string; readonly addedFiles: string | null }>({
  addedFiles,
  ...row
}: T): Omit<T, 'addedFiles'> {
  if (addedFiles === null) return row;
  const [schema, added] = [readStoredJson(row.schema), readStoredJson(`[${addedFiles}]`)];
  if (!isJsonObject(schema) || !Array.isArray(added)) return row;
  const files = getMember(schema, 'files');
  const all = [...(Array.isArray(files) ? files : []), ...added];
  return { ...row, schema: canonicalJson({ ...schema, files: all }) };
}

export function toSectionSummary({ id, name, orderIndex, itemCount }: SectionSummary): SectionSummary {
  return { id, name, orderIndex, itemCount };
}

export const SECTION_COLUMNS: string = `id, ${boundedName('name')} AS name, order_index AS "orderIndex", item_count AS "itemCount",
  section_hash AS "sectionHash", file_bytes::float8 AS "fileBytes", file_sha256 AS "fileSha256"`;

export interface StoredSectionRow extends Omit<StoredSection, 'exportFile'> {
  readonly fileBytes: number | null;
  readonly fileSha256: Uint8Array | null;
}

export function toStoredSection({ fileBytes, fileSha256, ...section }: StoredSectionRow): StoredSection {
  const exportFile =
    fileBytes === null || fileSha256 === null ? null : { bytes: fileBytes, sha256: fileSha256 };
  return { ...section, exportFile };
}

export function versionNotFound(version: string): StoreError {
  return new StoreError('version_not_found', `The dataset has no version "${shortened(version)}".`);
}

/** The error for a version that cannot be read: it is gone, perhaps with its dataset. @param version null for the newest */
export async function nothingToRead(
  query: ReadQuery,
  id: string,
  version: number | null,
): Promise<StoreError> {
  const [dataset] = version === null ? [] : await query('SELECT FROM datasets WHERE id = $1', [id]);
  return dataset === undefined ? datasetNotFound(id) : versionNotFound(String(version));
}
