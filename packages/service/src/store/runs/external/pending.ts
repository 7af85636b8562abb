import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { auditEnd } from '../../audit/actor.ts';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { createReadQuery, queryOf } from '../../postgres/read-query.ts';
import { countLacking, queueScorers, toAdding } from '../adding-scorers.ts';
import { findMissing, type PendingPosition } from '../missing-results.ts';
import { concludeRun } from '../prove-run.ts';
import { itemsOfResults, type ResultItem } from '../results/items-of-results.ts';
import { keyColumns, type ResultKey } from '../run-results.ts';
import { RUN_COLUMNS, type Run, type RunLock, readRun, runFinished, versionOf } from '../run-row.ts';

export interface ClaimRequest {
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

/**
 * The results that a run lacks and clients are to send, each with its item, in item order.
 *
 * @throws StoreError `run_not_found`, `run_not_external`, `run_finished`
 */
export async function readPending(
  context: StoreContext,
  id: string,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
) {
  const run = await readWaiting(context.pool, id);
  return { run, results: pendingResults(context, run, limit, signal) };
}

/**
 * The same of results that no other client has claimed, which are claimed now. Claims that have expired go first; the others are
 * found once each, in item order.
 *
 * @throws StoreError as {@link readPending}
 */
export async function claimPending(
  context: StoreContext,
  id: string,
  { limit, claimSeconds, signal }: ClaimRequest & { readonly signal: AbortSignal },
) {
  const claimed = await inTransaction(context.pool, async (client) => {
    const run = await readWaiting(client, id, 'FOR NO KEY UPDATE');
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
  const run = await readExternal(context.pool, id);
  return { run, results: withItems(context, run, claimed, signal) };
}

/** Finds results that no client has claimed, from where the last search ended: those before have a result or a claim. */
async function findFresh(client: pg.ClientBase, run: Run, limit: number) {
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
export async function endClaims(client: pg.ClientBase, runId: string, results: readonly ResultKey[]) {
  const { rows } = await client.query<{ batchId: string }>(END, [runId, ...keyColumns(results)]);
  if (rows.length === 0) return;
  const batches = [...new Set(rows.map(({ batchId }) => batchId))];
  await client.query(DELETE_EMPTY, [runId, batches]);
  await client.query(EXTEND, [runId, batches]);
}

export async function deleteClaims(client: pg.ClientBase, runId: string): Promise<void> {
  await client.query('DELETE FROM run_claims WHERE run_id = $1', [runId]);
  await client.query('DELETE FROM run_claim_batches WHERE run_id = $1', [runId]);
}

/** Results that clients are to send, each with its item: pages are read as they are taken; between them, no connection is held. */
export type PendingResults = Awaited<ReturnType<typeof readPending>>;

/** A result that a run lacks, with its item. */
export interface PendingResult extends PendingPosition {
  /** Without a payload where it is too large. */
  readonly item: ResultItem;
}

const PAGE = 100;

async function* pendingResults(context: StoreContext, run: Run, limit: number, signal: AbortSignal) {
  const query = createReadQuery(context.pool, signal);
  let left = limit;
  for await (const { found } of findMissing(query, run, { limit: () => Math.min(left, PAGE) })) {
    yield* withItems(context, run, found, signal);
    left -= found.length;
    if (left <= 0) return;
  }
}

async function* withItems(
  context: StoreContext,
  run: Run,
  positions: readonly PendingPosition[],
  signal: AbortSignal,
): AsyncGenerator<PendingResult, void, undefined> {
  const query = createReadQuery(context.pool, signal);
  for (let start = 0; start < positions.length; ) {
    signal.throwIfAborted();
    const page = positions.slice(start, start + PAGE);
    const found = await itemsOfResults(query, context, versionOf(run), page, signal);
    try {
      for (const { item, ...position } of found.results) if (item !== null) yield { ...position, item };
    } finally {
      found.release();
    }
    start += found.results.length;
  }
}

/**
 * Ends a run whose results clients have sent, or hands it to a worker if judges are to score its outputs. A run that is
 * `completed` stays as it is.
 *
 * @param options names of the scorers that are judges
 * @throws StoreError `run_not_found`, `run_not_external`, `run_incomplete`; `run_finished` when it has ended otherwise
 */
export async function finishRun(
  context: StoreContext,
  id: string,
  { allowMissing, judges }: { readonly allowMissing: boolean; readonly judges: readonly string[] },
): Promise<Run> {
  const { pool } = context;
  const before = await readExternal(pool, id);
  // So that the run has its scores when it has ended.
  if (before.finishedAt === null) await concludeRun(context, id, { isEnding: true });
  return await inTransaction(pool, async (client) => {
    const run = await readExternal(client, id, 'FOR UPDATE');
    // The judges score its outputs already.
    if (run.status === 'completed' || (run.addingScorers !== null && run.finishedAt === null)) return run;
    if (run.finishedAt !== null) throw runFinished(run);
    const missing = run.resultsLeft;
    if (missing > 0 && !allowMissing) {
      const message = `Cannot finish the run: ${missing} of ${run.counts.total} results are missing.`;
      throw new StoreError('run_incomplete', message, { missing });
    }
    await deleteClaims(client, id);
    const due = judges.length === 0 ? 0 : await countLacking(client, id, toAdding(run.config, judges));
    if (due > 0) return await queueScorers(client, run, { names: judges, due, status: 'completed' });
    const { rows } = await client.query<Run>(
      `UPDATE runs SET status = 'completed', finished_at = clock_timestamp() WHERE id = $1 RETURNING ${RUN_COLUMNS}`,
      [id],
    );
    await auditEnd(client, id);
    return rows[0] as Run;
  });
}

/** Reads a run whose results clients send. @throws StoreError `run_not_found`, `run_not_external` */
export async function readExternal(client: pg.ClientBase | pg.Pool, id: string, lock: RunLock | '' = '') {
  const run = await readRun(queryOf(client), id, lock);
  if (!run.isExternal) {
    throw new StoreError(
      'run_not_external',
      'The run takes no results from outside: its provider is not `external`.',
    );
  }
  return run;
}

/** Reads a run that waits for results. @throws StoreError as {@link readExternal}, and `run_finished` */
export async function readWaiting(client: pg.ClientBase | pg.Pool, id: string, lock: RunLock | '' = '') {
  const run = await readExternal(client, id, lock);
  if (run.finishedAt !== null) throw runFinished(run);
  if (run.addingScorers !== null) {
    throw new StoreError('run_finished', 'The run takes no results: it has ended, and gets further scorers.');
  }
  return run;
}
