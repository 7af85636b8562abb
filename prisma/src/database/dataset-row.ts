import { StoreError } from './errors.ts';
import { boundedName, boundedText } from './item-size.ts';
import { shortened } from './values.ts';

export type DatasetSource = 'hub' | 'pkg_zip' | 'file';

/** A stored dataset, as lists and responses show it. */
export interface DatasetSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: DatasetSource;
  /** Short name that is unique without regard to case. */
  readonly handle: string | null;
  /** Number of the version that it describes. */
  readonly version: number;
  /** Versions that exist. */
  readonly versionCount: number;
  /** 64 hex digits. */
  readonly versionHash: string;
  /** Canonical JSON text. */
  readonly schema: string;
  readonly sectionCount: number;
  readonly itemCount: number;
  readonly assetCount: number;
  /** At most the first {@link SUMMARY_SECTIONS}, in order. */
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

/** Sections that a summary lists. */
export const SUMMARY_SECTIONS = 100;

/** A section as it is stored. */
export interface StoredSection extends SectionSummary {
  /** 32 bytes */
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
  ELSE '{"source":"pkg_zip","package":null,"truncated":true}' END`;
/** A description or note that has more is shown cut; an export has it whole. */
const MAX_SHOWN_TEXT_BYTES = 1024 * 1024;

const shownText = (column: string): string =>
  `${boundedText(column, MAX_SHOWN_TEXT_BYTES, `left(${column}, 100000) || '…'`)} AS ${column}`;

/** The rows that the columns of a dataset are read from: each dataset with one of its versions. @param version SQL */
export const datasetsWith = (version = 'd.version'): string => `(
    SELECT d.id, d.name, d.handle, d.description, d.notes, d.source, d.schema, d.version_count, d.created_at, d.updated_at,
      v.version, v.version_hash, v.item_count, v.asset_count, cardinality(v.section_ids) AS section_count
    FROM datasets d JOIN versions v ON v.dataset_id = d.id AND v.version = ${version}
  ) AS datasets`;

const FIXED_COLUMNS = `id, source, handle, version, version_count AS "versionCount", version_hash AS "versionHash", section_count AS "sectionCount",
  item_count AS "itemCount", asset_count AS "assetCount", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The columns of a dataset as it is shown, under the names of {@link DatasetRow}. */
export function shownDataset(maxSchemaBytes: number = MAX_SHOWN_SCHEMA_BYTES): string {
  const isLarge = `octet_length(schema) > ${MAX_SHOWN_SCHEMA_BYTES} OR source <> 'hub' AND octet_length(schema) > ${maxSchemaBytes}`;
  return `${FIXED_COLUMNS}, ${boundedName('name')} AS name, ${shownText('description')}, ${shownText('notes')},
    CASE WHEN ${isLarge} THEN ${TRUNCATED_SCHEMA} ELSE schema END AS schema`;
}

/** The same, all texts whole: to be asked for only where {@link DATASET_BYTES} are known. */
export const WHOLE_DATASET: string = `${FIXED_COLUMNS}, name, description, notes, schema`;

/** Bytes of all texts of a dataset. */
export const DATASET_BYTES: string = `octet_length(name)::bigint + coalesce(octet_length(description), 0)
  + coalesce(octet_length(notes), 0) + octet_length(schema)`;

/** A dataset without its sections, as queries name its columns. */
export type DatasetRow = Omit<DatasetSummary, 'sections'>;

export function toSectionSummary({ id, name, orderIndex, itemCount }: SectionSummary): SectionSummary {
  return { id, name, orderIndex, itemCount };
}

/** The columns of a section of the view `version_sections`, under the names of {@link StoredSectionRow}. */
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
