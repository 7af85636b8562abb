import { randomUUID } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { currentActor } from '../database/actor.ts';
import { readableJson } from '../database/values.ts';

/** Every kind of change. */
export const AUDIT_ACTIONS = [
  'dataset.create',
  'dataset.change',
  'dataset.update',
  'dataset.restore',
  'dataset.rename',
  'dataset.delete',
  'version.delete',
  'run.create',
  'run.finish',
  'run.cancel',
  'run.retry',
  'run.rescore',
  'run.update',
  'run.delete',
  'results.push',
  'scores.push',
  'label.set',
  'label.delete',
  'settings.update',
  'job.cancel',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What was changed. */
export interface AuditObject {
  readonly kind: 'dataset' | 'run' | 'job' | 'settings';
  /** Null for the settings. */
  readonly id: string | null;
  /** Of a dataset, where it is not its newest version. */
  readonly version?: number;
}

/** What the object is called at this moment. A run has the handle of its dataset. */
const NAMED: Readonly<Record<AuditObject['kind'], string>> = {
  dataset: 'SELECT name, handle, version FROM datasets WHERE id = $7::text::uuid',
  run: `SELECT r.name, d.handle, r.dataset_version AS version FROM runs r JOIN datasets d ON d.id = r.dataset_id
    WHERE r.id = $7::text::uuid`,
  job: `SELECT asked ->> 'name' AS name, coalesce(d.handle, asked #>> '{target,handle}') AS handle, NULL::int AS version
    FROM (SELECT dataset_id, ${readableJson('request::json')} AS asked
      FROM jobs WHERE id = $7::text::uuid AND octet_length(request) <= 1048576) j
      LEFT JOIN datasets d ON d.id = coalesce(j.dataset_id::text, j.asked #>> '{target,dataset_id}')::uuid`,
  settings: `SELECT NULL AS name, NULL AS handle, NULL::int AS version WHERE $7::text IS NOT NULL`,
};

/** A statement that writes a row, for a caller that sends several together. */
export function auditStatement(
  action: AuditAction,
  { kind, id, version }: AuditObject,
  details: JsonObject,
  rowId: string = randomUUID(),
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { name, role, requestId } = currentActor();
  return {
    sql: `INSERT INTO audit (id, created_at, actor, role, request_id, action, kind, object_id, version, details, name, handle)
      SELECT $1, clock_timestamp(), $2, $3, $4, $5, $6, $7::text, coalesce($8::int, named.version), $9, left(named.name, 1000), named.handle
      FROM (VALUES (1)) AS one LEFT JOIN (${NAMED[kind]}) AS named ON true
      ON CONFLICT (id) DO UPDATE SET details = excluded.details`,
    values: [
      ...[rowId, name, role, requestId?.replaceAll('\0', '') ?? null],
      ...[action, kind, id, version ?? null, canonicalJson(details)],
    ],
  };
}

/**
 * Writes the row of a change in the transaction that makes it, while its object is there and has its old name.
 *
 * @param details counts, and names of what changed; never contents
 * @param rowId of a change that several transactions make: each writes the row anew
 */
export async function writeAudit(
  client: pg.ClientBase,
  action: AuditAction,
  object: AuditObject,
  details: JsonObject = {},
  rowId?: string,
): Promise<void> {
  const { sql, values } = auditStatement(action, object, details, rowId);
  await client.query(sql, [...values]);
}

/** Writes that a run has ended, with its counts. What only tries a configuration is no change. */
export async function auditEnd(client: pg.ClientBase, id: string): Promise<void> {
  const { rows } = await client.query<{ status: string; ok: number; failed: number; unscored: number }>(
    `SELECT status, ok::float8, failed::float8, unscored::float8 FROM runs WHERE id = $1 AND NOT is_trial`,
    [id],
  );
  const [run] = rows;
  if (run !== undefined) await writeAudit(client, 'run.finish', { kind: 'run', id }, { ...run });
}
