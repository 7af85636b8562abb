import type pg from 'pg';
import { searchableText } from '../database/values.ts';

/** A dataset that an import would repeat. */
export interface RepeatedDataset {
  readonly id: string;
  /** Hash of its newest version, 64 hex digits. */
  readonly versionHash: string;
}

/** What an import would store. */
interface Wanted {
  readonly name: string;
  readonly handle?: string | null | undefined;
  /** 64 hex digits. */
  readonly versionHash: string;
}

/** See `DatasetDraft.findRepeated`. The lock is held until the transaction ends. */
export async function findRepeated(
  client: pg.ClientBase,
  { name, handle, versionHash }: Wanted,
): Promise<RepeatedDataset | null> {
  const key = handle == null ? `name ${searchableText(name)}` : `handle ${handle.toLowerCase()}`;
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
  const from = `SELECT d.id, v.version_hash AS "versionHash"
    FROM datasets d JOIN versions v ON v.dataset_id = d.id AND v.version = d.version`;
  const { rows } =
    handle == null
      ? await client.query<RepeatedDataset>(
          `${from} WHERE d.name = $1 AND v.version_hash = $2 ORDER BY d.created_at DESC LIMIT 1`,
          [searchableText(name), versionHash],
        )
      : await client.query<RepeatedDataset>(`${from} WHERE lower(d.handle) = lower($1)`, [handle]);
  return rows[0] ?? null;
}
