import type { DatasetSource, DatasetSummary, SectionSummary } from '@svc/flows';
import { StoreError } from './errors.ts';

/** A section as it is stored. */
export interface StoredSection extends SectionSummary {
  /** 32 bytes */
  readonly sectionHash: Uint8Array;
  /** size and SHA-256 of the section's file in an export; null when its items embed files */
  readonly exportFile: { readonly bytes: number; readonly sha256: Uint8Array } | null;
}

export function datasetNotFound(id: string): StoreError {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id;
  return new StoreError('dataset_not_found', `There is no dataset "${shown}".`);
}

/** The columns of a dataset as queries name them. */
export interface DatasetRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: string;
  readonly versionHash: string;
  readonly schema: string;
  readonly sectionCount: number;
  readonly itemCount: number;
  readonly assetCount: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export function toSummary(
  row: DatasetRow & { readonly sections: readonly SectionSummary[] },
): DatasetSummary {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    notes: row.notes,
    source: row.source as DatasetSource,
    versionHash: row.versionHash,
    schema: row.schema,
    sectionCount: row.sectionCount,
    itemCount: row.itemCount,
    assetCount: row.assetCount,
    sections: row.sections.map(({ id, name, orderIndex, itemCount }) => ({
      id,
      name,
      orderIndex,
      itemCount,
    })),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function toStoredSection(row: {
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
  readonly sectionHash: Uint8Array;
  readonly fileBytes: bigint | null;
  readonly fileSha256: Uint8Array | null;
}): StoredSection {
  const { id, name, orderIndex, itemCount, sectionHash, fileBytes, fileSha256 } = row;
  const exportFile =
    fileBytes === null || fileSha256 === null ? null : { bytes: Number(fileBytes), sha256: fileSha256 };
  return { id, name, orderIndex, itemCount, sectionHash, exportFile };
}
