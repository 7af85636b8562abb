import { datasetNotFound, PROVENANCE, shownSchema, withAddedFiles } from '../database/dataset-row.ts';
import { cursorAfter, decodeCursor, type Page, type PageRequest } from '../database/page.ts';
import { isUuid } from '../database/values.ts';
import type { DiffCounts } from '../diff/compare-sections.ts';
import type { ReadQuery } from '../postgres/read-query.ts';

type VersionSource = 'upload' | 'hub' | 'append' | 'upsert' | 'edit' | 'restore' | 'replace';

/** A version in the history of a dataset. */
export interface ListedVersion {
  readonly version: number;
  /** 64 hex digits. */
  readonly versionHash: string;
  readonly itemCount: number;
  readonly createdAt: Date;
  readonly message: string | null;
  /** Name of the API key; null without one. */
  readonly author: string | null;
  readonly change: DiffCounts;
  /** What was done. */
  readonly source: VersionSource;
  /** Where its items come from: canonical JSON text, as of a dataset. */
  readonly schema: string;
  readonly runCount: number;
}

type VersionRow = Omit<ListedVersion, 'change'> & DiffCounts & { readonly addedFiles: string | null };

/** A list omits the schema of an upload beyond this size. */
const MAX_LISTED_SCHEMA_BYTES = 16 * 1024;

export interface VersionsRequest extends PageRequest {
  /** Number of the newest version to list; by default the newest of the dataset. */
  readonly upTo?: number | undefined;
}

/** See `DatasetStore.listVersions`. */
export async function listVersions(
  query: ReadQuery,
  id: string,
  { limit, cursor, upTo }: VersionsRequest,
): Promise<Page<ListedVersion>> {
  const starts = [
    ...(cursor === undefined ? [] : [Number(decodeCursor(`versions ${id}`, ['index'], cursor)[0])]),
    ...(upTo === undefined ? [] : [upTo + 1]),
  ];
  const before = starts.length === 0 ? null : Math.min(...starts);
  const [dataset] = isUuid(id)
    ? await query<{ count: number }>('SELECT version_count AS count FROM datasets WHERE id = $1', [id])
    : [];
  if (dataset === undefined) throw datasetNotFound(id);
  const rows = await query<VersionRow>(
    `SELECT version, version_hash AS "versionHash", item_count AS "itemCount", created_at AS "createdAt", message, author,
       added, changed, removed, made AS source, "runCount", ${shownSchema(MAX_LISTED_SCHEMA_BYTES)}
     FROM (
       SELECT v.version, v.version_hash, v.item_count, v.created_at, v.message, v.author, v.added, v.changed, v.removed,
         v.source AS made, ${PROVENANCE},
         (SELECT count(*)::float8 FROM runs r WHERE r.dataset_id = v.dataset_id AND r.dataset_version = v.version AND NOT r.is_trial) AS "runCount"
       FROM versions v JOIN datasets d ON d.id = v.dataset_id
       WHERE v.dataset_id = $1 AND ($2::int IS NULL OR v.version < $2) ORDER BY v.version DESC LIMIT $3
     ) AS listed ORDER BY version DESC`,
    [id, before, limit + 1],
  );
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(withAddedFiles).map(({ added, changed, removed, ...version }) => ({
      ...version,
      change: { added, changed, removed },
    })),
    nextCursor: cursorAfter(`versions ${id}`, shown, rows.length > limit, ({ version }) => [version]),
    totalItems: dataset.count,
  };
}
