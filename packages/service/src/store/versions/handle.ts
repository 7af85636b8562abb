import pg from 'pg';
import { checkOwnHandle, seesDataset, seesHandle } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { datasetNotFound, versionNotFound } from '../database/dataset-row.ts';
import { StoreError } from '../database/errors.ts';
import { isUuid, shortened } from '../database/values.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';

export interface DatasetVersion {
  /** UUID of the dataset; perhaps there is none. */
  readonly id: string;
  /** Number of the version; null for the newest. */
  readonly version: number | null;
}

const NUMBER = /^[1-9]\d{0,8}$/;
const HASH_PREFIX = /^[0-9a-f]{8,64}$/;

/**
 * Finds the dataset and version that a caller names.
 *
 * @param dataset id or handle of a dataset
 * @param version its number, or at least 8 digits of its hash; by default the newest
 * @throws StoreError `dataset_not_found`, `version_not_found`, `ambiguous_version`
 */
export async function resolveVersion(
  { pool }: StoreContext,
  dataset: string,
  version?: string,
  signal?: AbortSignal,
): Promise<DatasetVersion> {
  const query = createReadQuery(pool, signal);
  const id = isUuid(dataset) ? dataset : await idOfHandle(query, dataset);
  if (version === undefined) {
    const sees = seesDataset('id');
    if (sees !== null && id === dataset) {
      const seen = await query(`SELECT id FROM datasets WHERE id = $1 AND ${sees}`, [id]);
      if (seen.length === 0) throw datasetNotFound(dataset);
    }
    return { id, version: null };
  }
  const isHash = HASH_PREFIX.test(version);
  const number = NUMBER.test(version) ? Number(version) : null;
  const rows = await query<{ version: number | null; hashes: string; isNumber: boolean }>(
    `SELECT max(v.version) AS version, count(DISTINCT v.version_hash) AS hashes, coalesce(bool_or(v.version = $2), false) AS "isNumber"
     FROM datasets d LEFT JOIN versions v ON v.dataset_id = d.id AND (v.version = $2 OR v.version_hash LIKE $3)
     WHERE d.id = $1 AND ${seesHandle('d.handle') ?? 'true'} GROUP BY d.id`,
    [id, number, isHash ? `${version}%` : null],
  );
  const [found] = rows;
  if (found === undefined) throw datasetNotFound(dataset);
  if (found.isNumber) return { id, version: number };
  if (found.version === null) throw versionNotFound(version);
  if (Number(found.hashes) > 1) {
    throw new StoreError(
      'ambiguous_version',
      `Several versions of the dataset have a hash that begins with ${version}.`,
    );
  }
  return { id, version: found.version };
}

async function idOfHandle(query: ReadQuery, handle: string): Promise<string> {
  const [row] = HANDLE.test(handle)
    ? await query<{ id: string }>(
        `SELECT id FROM datasets WHERE lower(handle) = lower($1) AND ${seesHandle('handle') ?? 'true'}`,
        [handle],
      )
    : [];
  if (row === undefined) throw datasetNotFound(handle);
  return row.id;
}

/** The form of a handle, without regard to what is reserved. */
const HANDLE: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

const RESERVED: ReadonlySet<string> = new Set(['upload', 'hub', 'export', 'svc']);

/**
 * Checks a new handle: letters and digits of ASCII, `.`, `_` and `-`, as names of the hub, and no form of a UUID; and that
 * the key may give it.
 *
 * @throws StoreError `invalid_request`
 */
export function checkHandle(handle: string): void {
  const refuse = (rule: string): never => {
    const shown = JSON.stringify(shortened(handle));
    throw new StoreError('invalid_request', `The handle must ${rule}, got ${shown}.`);
  };
  if (!HANDLE.test(handle))
    refuse('have 1 to 96 letters, digits, ".", "_" or "-", and begin with a letter or digit');
  if (/[.-]$/.test(handle) || /--|\.\./.test(handle))
    refuse('not end with "." or "-", nor contain "--" or ".."');
  if (handle.toLowerCase().endsWith('.git')) refuse('not end with ".git"');
  if (isUuid(handle)) refuse('not have the form of an id');
  if (RESERVED.has(handle.toLowerCase())) refuse('not be a reserved name');
  checkOwnHandle(handle);
}

/** The error for a handle that another dataset has; any other error as it is. */
export function toHandleTaken(error: unknown, handle: string | null | undefined): unknown {
  const isTaken = error instanceof pg.DatabaseError && error.constraint === 'datasets_handle';
  return isTaken ? new StoreError('handle_taken', `Another dataset has the handle "${handle}".`) : error;
}
