import type pg from 'pg';
import { checkOwnHandle, writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { type DatasetSummary, datasetNotFound, type StoredSection } from '../database/dataset-row.ts';
import { guarded } from '../database/errors.ts';
import type { Page, PageRequest } from '../database/page.ts';
import { storableText } from '../database/values.ts';
import type { Idempotent } from '../idempotency/idempotency-store.ts';
import { DatasetDraft, type DraftOptions, type ImportContext } from '../import/draft.ts';
import { indexHashes } from '../items/hash-blocks.ts';
import { type ItemsPage, type ItemsRequest, listItems } from '../items/list-items.ts';
import { inTransaction } from '../postgres/pool.ts';
import { createReadQuery } from '../postgres/read-query.ts';
import { collectParts, deleteVersion, type VersionDeletion } from '../versions/delete-version.ts';
import { checkHandle, type DatasetVersion, resolveVersion, toHandleTaken } from '../versions/handle.ts';
import {
  type ListedVersion,
  listSections,
  listVersions,
  readSummary,
  type VersionsRequest,
} from '../versions/list-versions.ts';
import { type Restoration, type RestoredDataset, restoreDataset } from '../versions/restore-version.ts';
import { type ComparedDataset, type DatasetDiff, type DiffRequest, diffDatasets } from './diff-datasets.ts';
import { type DatasetsRequest, type ListedDataset, listDatasets } from './list-datasets.ts';
import { type OpenDataset, type OpenDatasetOptions, openDataset } from './open-dataset.ts';

/** Members to change; absent ones stay, null removes the text. */
export interface DatasetChanges {
  readonly name?: string | undefined;
  readonly handle?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly notes?: string | null | undefined;
}

const MEMBERS = ['name', 'handle', 'description', 'notes'] as const;

/** See `DatasetStore.update`. */
async function updateDataset(pool: pg.Pool, id: string, changes: DatasetChanges): Promise<void> {
  if (changes.handle === null) checkOwnHandle(null);
  else if (changes.handle !== undefined) checkHandle(changes.handle);
  const stated = MEMBERS.filter((name) => changes[name] !== undefined);
  for (const name of stated) if (changes[name] != null) storableText(name, changes[name]);
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<Readonly<Record<(typeof MEMBERS)[number], boolean>>>(
      `SELECT ${MEMBERS.map((name, index) => `${name} IS DISTINCT FROM $${index + 2}::text AS ${name}`).join(', ')}
       FROM datasets WHERE id = $1 FOR NO KEY UPDATE`,
      [id, ...MEMBERS.map((name) => changes[name] ?? null)],
    );
    const [differs] = rows;
    if (differs === undefined) throw datasetNotFound(id);
    const changed = stated.filter((name) => differs[name]);
    for (const [action, names] of [
      ['dataset.rename', ['name', 'handle']],
      ['dataset.update', ['description', 'notes']],
    ] as const) {
      const members = changed.filter((name) => (names as readonly string[]).includes(name));
      if (members.length > 0) await writeAudit(client, action, { kind: 'dataset', id }, { members });
    }
    // The database's clock, as for `created_at`.
    const assignments = [
      'updated_at = clock_timestamp()',
      ...stated.map((name, index) => `${name} = $${index + 2}`),
    ];
    await client
      .query(`UPDATE datasets SET ${assignments.join(', ')} WHERE id = $1`, [
        id,
        ...stated.map((name) => changes[name]),
      ])
      .catch((error: unknown) => {
        throw toHandleTaken(error, changes.handle);
      });
  });
}

/**
 * Datasets, their sections and items. Every method throws StoreError `unavailable` when the database cannot be
 * reached, and those that take an id `dataset_not_found`.
 */
export interface DatasetStore {
  /**
   * Waits for a permit to import, and starts a dataset, which is stored when the draft is committed.
   *
   * @throws StoreError `unavailable` when no import ends in time; the signal's reason
   */
  begin(options?: DraftOptions): Promise<DatasetDraft>;
  /**
   * Datasets, newest first. A schema over 64 KiB of an upload is left out of the list:
   * `{"source":"pkg_zip","package":null,"truncated":true}` replaces it.
   *
   * @throws StoreError `invalid_cursor`
   */
  list(request: DatasetsRequest): Promise<Page<ListedDataset>>;
  /** One dataset with its schema, unless that has more than 16 MiB. */
  get(
    id: string,
    options?: { readonly version?: number | null | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<DatasetSummary>;
  /** @throws StoreError `invalid_request` for a text that PostgreSQL cannot hold */
  update(id: string, changes: DatasetChanges): Promise<DatasetSummary>;
  /**
   * Deletes a dataset with its sections, runs and their results, in one transaction. Its items are gone for every reader
   * with them; `collect` removes their rows.
   */
  delete(id: string): Promise<void>;
  /** Removes items of deleted datasets, and of imports that did not end. */
  collect(signal?: AbortSignal): Promise<number>;
  /**
   * Prepares look-ups by hash in large sections, which read the whole section before. Ends when all are prepared, or
   * `signal` is aborted.
   */
  indexHashes(signal?: AbortSignal): Promise<number>;
  /**
   * Finds the dataset and version that a caller names.
   *
   * @throws StoreError `version_not_found`, `ambiguous_version`
   */
  resolve(dataset: string, version?: string, signal?: AbortSignal): Promise<DatasetVersion>;
  /** The history of a dataset, newest first. @throws StoreError `invalid_cursor` */
  listVersions(id: string, request: VersionsRequest): Promise<Page<ListedVersion>>;
  /**
   * Makes the content of an older version the newest one.
   *
   * @param request that is idempotent, whose answer is stored with it
   * @throws StoreError `version_not_found`, `version_changed`, `superseded`
   */
  restore(restoration: Restoration, request?: Idempotent<RestoredDataset>): Promise<RestoredDataset>;
  /**
   * Deletes an old version. What only it had is removed by the collectors.
   *
   * @throws StoreError `version_not_found`, `newest_version`, `version_has_runs`
   */
  deleteVersion(id: string, version: number, options: VersionDeletion): Promise<void>;
  /** @throws StoreError `invalid_cursor` */
  listSections(
    id: string,
    request: PageRequest & { readonly version?: number | undefined },
  ): Promise<Page<StoredSection>>;
  /**
   * Items in section and item order, as canonical texts. A page ends early when its items are large: it has at most
   * 8 MiB, or one item. An item that is larger than one may be comes without its parts.
   *
   * @throws StoreError `invalid_cursor`, `section_not_found`, `type_not_found`
   */
  listItems(id: string, request: ItemsRequest): Promise<ItemsPage>;
  /** Opens a dataset for an export: everything read through it is of one moment. */
  open(id: string, options?: OpenDatasetOptions): Promise<OpenDataset>;
  /**
   * What distinguishes a second dataset from a first: items only in the second (`added`), only in the first (`removed`), in
   * both with other content (`changed`). See docs/versions.md.
   *
   * @throws StoreError `version_not_found`, `invalid_cursor`
   */
  diff(from: ComparedDataset, to: ComparedDataset, request: DiffRequest): Promise<DatasetDiff>;
}

export function createDatasetStore(context: StoreContext & ImportContext): DatasetStore {
  const { pool, searches } = context;

  const get: DatasetStore['get'] = (id, { version = null, signal } = {}) =>
    readSummary(createReadQuery(pool, signal), id, version);

  return guarded({
    begin: (options = {}) => DatasetDraft.begin(context, options),

    async list(request) {
      const { signal, q } = request;
      using _permit = q === undefined ? undefined : await searches.acquire(signal);
      return await listDatasets(createReadQuery(pool, signal), request);
    },

    get,

    async update(id, changes) {
      await updateDataset(pool, id, changes);
      return await get(id);
    },

    delete: (id) => deleteDataset(pool, id),
    resolve: (dataset, version, signal) => resolveVersion(createReadQuery(pool, signal), dataset, version),
    listVersions: (id, request) => listVersions(createReadQuery(pool, request.signal), id, request),
    restore: (restoration, request) =>
      inTransaction(pool, (client) => restoreDataset(client, restoration, request)),
    deleteVersion: (id, version, options) =>
      inTransaction(pool, (client) => deleteVersion(client, id, version, options)),
    collect: (signal) => collectParts(pool, signal),
    indexHashes: (signal) => indexHashes(pool, signal),

    listSections: (id, request) => listSections(pool, id, request),
    listItems: (id, request) => listItems(context, id, request),
    open: (id, options) => openDataset(context, id, options),
    diff: (from, to, request) => diffDatasets(context, from, to, request),
  } satisfies DatasetStore);
}

/** See `DatasetStore.delete`. */
async function deleteDataset(pool: pg.Pool, id: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Lock the row first: a request that adds a run to the dataset waits, and then does not find it.
    const { rowCount } = await client.query('SELECT FROM datasets WHERE id = $1 FOR UPDATE', [id]);
    if (rowCount === 0) throw datasetNotFound(id);
    const { rows } = await client.query<{ versions: number; runs: number }>(
      `SELECT version_count AS versions, (SELECT count(*)::int FROM runs WHERE dataset_id = $1 AND NOT is_trial) AS runs
       FROM datasets WHERE id = $1`,
      [id],
    );
    await writeAudit(client, 'dataset.delete', { kind: 'dataset', id }, { ...rows[0] });
    // Nothing shows its items without its versions. They are removed later: however many they are, it takes as long.
    await client.query('INSERT INTO loose_parts (part_id) SELECT id FROM parts WHERE dataset_id = $1', [id]);
    // Workers of its runs stop immediately instead of at their next check.
    await client.query(
      `SELECT pg_notify('svc_cancel', id::text) FROM runs WHERE dataset_id = $1 AND finished_at IS NULL`,
      [id],
    );
    await client.query('DELETE FROM datasets WHERE id = $1', [id]);
  });
}
