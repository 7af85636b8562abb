import type pg from 'pg';
import { datasetNotFound, versionNotFound } from '../database/dataset-row.ts';
import { StoreError } from '../database/errors.ts';
import { fromColumns, type ItemRange, type RangeColumns } from './ranges.ts';

export interface VersionState {
  readonly datasetId: string;
  readonly version: number;
  readonly versionHash: string;
  readonly itemCount: number;
  readonly assetCount: number;
  /** Numbers of the versions that say where its items come from, as PostgreSQL writes them; null for the first. */
  readonly sources: string | null;
  readonly sections: readonly SectionState[];
}

export interface SectionState {
  readonly id: string;
  readonly name: string;
  readonly itemCount: number;
  readonly sectionHash: Buffer;
  readonly ranges: readonly ItemRange[];
}

/**
 * Reads the newest version of a dataset, which stays the newest until the transaction ends: other changes of the dataset wait.
 */
export async function lockNewest(client: pg.ClientBase, datasetId: string, ifMatch: string | undefined) {
  const { rows } = await client.query<{ version: number }>(
    'SELECT version FROM datasets WHERE id = $1 FOR NO KEY UPDATE',
    [datasetId],
  );
  if (rows[0] === undefined) throw datasetNotFound(datasetId);
  const newest = await readVersion(client, datasetId, rows[0].version);
  const { version, versionHash } = newest;
  if (ifMatch === undefined || ifMatch === versionHash) return newest;
  throw new StoreError(
    'version_changed',
    `Cannot change the dataset: its newest version is ${version}, with the hash ${versionHash}.`,
  );
}

/** @throws StoreError `version_not_found` */
export async function readVersion(
  client: pg.ClientBase,
  datasetId: string,
  version: number,
): Promise<VersionState> {
  const versions = await client.query<VersionRow>(
    `SELECT version_hash AS "versionHash", item_count AS "itemCount", asset_count AS "assetCount", sources::text AS sources
     FROM versions WHERE dataset_id = $1 AND version = $2`,
    [datasetId, version],
  );
  const [row] = versions.rows;
  if (row === undefined) throw versionNotFound(String(version));
  const sections = await client.query<SectionRow>(
    `SELECT id, name, item_count AS "itemCount", section_hash AS "sectionHash", part_ids AS "partIds", starts, firsts
     FROM version_sections WHERE dataset_id = $1 AND version = $2 ORDER BY order_index`,
    [datasetId, version],
  );
  return { datasetId, version, ...row, sections: sections.rows.map(toSection) };
}

type VersionRow = Pick<VersionState, 'versionHash' | 'itemCount' | 'assetCount' | 'sources'>;

type SectionRow = Omit<SectionState, 'ranges'> & RangeColumns;

function toSection({ partIds, starts, firsts, ...section }: SectionRow): SectionState {
  return { ...section, ranges: fromColumns({ partIds, starts, firsts }, section.itemCount) };
}
