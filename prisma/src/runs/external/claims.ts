import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../../postgres/pool.ts';
import { queryOf } from '../../postgres/read-query.ts';
import { keyColumns, type ResultKey } from '../run-results.ts';
import type { Run } from '../run-row.ts';
import { findMissing, type PendingPosition } from './find-missing.ts';
import { lockWaiting } from './lock-external.ts';

export interface ClaimRequest {
  /** Results to claim at most. */
  readonly limit: number;
  /** How long the claims last without a result of one of them. */
  readonly claimSeconds: number;
}

const EXPIRED = `SELECT c.section_order_index AS "sectionOrderIndex", c.order_index AS "orderIndex", c.repetition, c.batch_id AS "batchId"
  FROM run_claim_batches b JOIN run_claims c ON c.run_id = b.run_id AND c.batch_id = b.id
  WHERE b.run_id = $1 AND b.claimed_until < clock_timestamp()
  ORDER BY b.claimed_until, c.section_order_index, c.order_index, c.repetition LIMIT $2`;

const KEYS = `unnest($2::int[], $3::int[], $4::int[]) AS wanted (section, item, repetition)`;

const CLAIM = `INSERT INTO run_claims AS claim (run_id, section_order_index, order_index, repetition, batch_id)
  SELECT $1, section, item, repetition, $5::uuid FROM ${KEYS}
  ON CONFLICT (run_id, section_order_index, order_index, repetition) DO UPDATE SET batch_id = excluded.batch_id`;

const END = `DELETE FROM run_claims claim USING ${KEYS} WHERE claim.run_id = $1 AND claim.section_order_index = wanted.section
  AND claim.order_index = wanted.item AND claim.repetition = wanted.repetition RETURNING claim.batch_id AS "batchId"`;

const DELETE_EMPTY = `DELETE FROM run_claim_batches b WHERE run_id = $1 AND id = ANY ($2::uuid[])
  AND NOT EXISTS (SELECT FROM run_claims c WHERE c.run_id = $1 AND c.batch_id = b.id)`;

const EXTEND = `UPDATE run_claim_batches SET claimed_until = clock_timestamp() + claim_seconds * interval '1 second'
  WHERE run_id = $1 AND id = ANY ($2::uuid[])`;

/** See `RunStore.claimPending`. Claims that have expired go first; the others are found once each, in item order. */
export async function claimPending(
  pool: pg.Pool,
  id: string,
  { limit, claimSeconds }: ClaimRequest,
): Promise<readonly PendingPosition[]> {
  return await inTransaction(pool, async (client) => {
    const run = await lockWaiting(client, id);
    const expired = await client.query<PendingPosition & { batchId: string }>(EXPIRED, [run.id, limit]);
    const claimed: PendingPosition[] = [...expired.rows];
    const fresh = await findFresh(client, run, limit - claimed.length);
    claimed.push(...fresh);
    if (claimed.length === 0) return [];
    const batchId = randomUUID();
    const { rows } = await client.query<{ claimedUntil: Date }>(
      `INSERT INTO run_claim_batches (run_id, id, claim_seconds, claimed_until)
       VALUES ($1, $2, $3::int, clock_timestamp() + $3::int * interval '1 second') RETURNING claimed_until AS "claimedUntil"`,
      [run.id, batchId, claimSeconds],
    );
    await client.query(CLAIM, [run.id, ...keyColumns(claimed), batchId]);
    await client.query(DELETE_EMPTY, [run.id, [...new Set(expired.rows.map((row) => row.batchId))]]);
    const claimedUntil = rows[0]?.claimedUntil ?? null;
    return claimed
      .map(({ sectionOrderIndex, orderIndex, repetition }) => {
        return { sectionOrderIndex, orderIndex, repetition, claimedUntil };
      })
      .sort(
        (a, b) =>
          a.sectionOrderIndex - b.sectionOrderIndex ||
          a.orderIndex - b.orderIndex ||
          a.repetition - b.repetition,
      );
  });
}

/** Finds results that no client has claimed, from where the last search ended: those before have a result or a claim. */
async function findFresh(
  client: pg.ClientBase,
  run: Run,
  limit: number,
): Promise<readonly PendingPosition[]> {
  if (limit <= 0) return [];
  const query = queryOf(client);
  const [row] = await query<{ section: number; index: number }>(
    'SELECT claimed_section AS section, claimed_index AS index FROM runs WHERE id = $1',
    [run.id],
  );
  const start = { sectionOrderIndex: row?.section ?? 0, orderIndex: row?.index ?? 0, repetition: 1 };
  const fresh: PendingPosition[] = [];
  let end: ResultKey = start;
  const search = { limit: () => limit - fresh.length, isUnclaimed: true, start };
  for await (const { found, next } of findMissing(query, run, search)) {
    fresh.push(...found);
    end = next;
    if (fresh.length >= limit) break;
  }
  await query('UPDATE runs SET claimed_section = $2, claimed_index = $3 WHERE id = $1', [
    run.id,
    end.sectionOrderIndex,
    end.orderIndex,
  ]);
  return fresh;
}

/** Ends the claims of results, and extends the others of their batches. */
export async function endClaims(
  client: pg.ClientBase,
  runId: string,
  results: readonly ResultKey[],
): Promise<void> {
  const { rows } = await client.query<{ batchId: string }>(END, [runId, ...keyColumns(results)]);
  if (rows.length === 0) return;
  const batches = [...new Set(rows.map(({ batchId }) => batchId))];
  await client.query(DELETE_EMPTY, [runId, batches]);
  await client.query(EXTEND, [runId, batches]);
}

/** Ends the claims of a run that has ended. */
export async function deleteClaims(client: pg.ClientBase, runId: string): Promise<void> {
  await client.query('DELETE FROM run_claims WHERE run_id = $1', [runId]);
  await client.query('DELETE FROM run_claim_batches WHERE run_id = $1', [runId]);
}
