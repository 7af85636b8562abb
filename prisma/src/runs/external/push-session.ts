import { randomUUID } from 'node:crypto';
import { type RunItem, readPrices } from '@svc/evaluation';
import { writeAudit } from '../../audit/actor.ts';
import type { StoreContext } from '../../context.ts';
import { guarded, guardedStream } from '../../database/errors.ts';
import type { ItemPosition } from '../../items/item-ranges.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { createReadQuery, createReads } from '../../postgres/read-query.ts';
import { keyOf } from '../read-items-at.ts';
import { readItemsAt } from '../read-stored-outputs.ts';
import { type Run, runFinished, versionOf } from '../run-row.ts';
import { type ImportedResult, insertWritten, type Written } from '../write/insert-results.ts';
import { createLocator, type ItemReference, type LocatedItem } from './locate-items.ts';
import { endClaims, lockWaiting, readExternal } from './pending.ts';

/** An item without the repetitions that have a result. */
export type ItemToScore = Omit<RunItem, 'doneRepetitions'>;

/** A run that takes results from outside, for one request. */
export interface PushSession {
  readonly run: Run;
  /** Finds the items that references name, each in its place: the position, or what is wrong. */
  locate(references: readonly ItemReference[]): Promise<readonly LocatedItem[]>;
  /** Reads items for what scores outputs: of as many of the positions as fit into memory, in their order, and one at least. */
  readItems(positions: readonly ItemPosition[]): Promise<readonly (ItemToScore | null)[]>;
  /** Reads a file of an item, see `RunSession`. */
  readonly readAsset: (
    file: { readonly sha256: string; readonly byteLength: number },
    signal: AbortSignal,
  ) => AsyncIterable<Uint8Array>;
  /**
   * Stores results, each in place of an earlier one, and ends their claims.
   *
   * @param results at most one for each repetition of an item
   * @throws StoreError `run_finished`, `run_not_found`
   */
  save(results: readonly ImportedResult[]): Promise<Written>;
}

/**
 * Opens a run to store results that a client sends.
 *
 * @throws StoreError `run_not_found`, `run_not_external`, `run_finished`
 */
export async function openPush(context: StoreContext, id: string, signal: AbortSignal): Promise<PushSession> {
  const { pool, ...limits } = context;
  const run = await readExternal(pool, id);
  if (run.finishedAt !== null) throw runFinished(run);
  const prices = readPrices(run.price, run.judgePrice);
  const query = createReadQuery(pool, signal);
  const locate = await createLocator(query, run);
  const audit = { id: randomUUID(), results: 0, replaced: 0 };
  return {
    run,
    readAsset: ({ sha256, byteLength }, reading) => {
      const range = { start: 0, end: byteLength };
      return guardedStream(context.assets.read(createReads(pool, reading), sha256, range, reading));
    },
    ...guarded({
      locate,
      async readItems(positions: readonly ItemPosition[]) {
        const { items, left } = await readItemsAt(query, limits, versionOf(run), positions);
        const end = positions.findIndex((position) => left.has(keyOf(position)));
        return (end === -1 ? positions : positions.slice(0, end)).map(
          (position) => items.get(keyOf(position)) ?? null,
        );
      },
      async save(results: readonly ImportedResult[]) {
        const written = await inTransaction(pool, async (client) => {
          const { status } = await lockWaiting(client, run.id);
          if (status === 'waiting') {
            await client.query(
              `UPDATE runs SET status = 'running', started_at = coalesce(started_at, clock_timestamp()) WHERE id = $1`,
              [run.id],
            );
          }
          const written = await insertWritten(client, run.id, results, prices, 'all');
          await endClaims(client, run.id, results);
          const counts = {
            results: audit.results + written.written,
            replaced: audit.replaced + written.replaced,
          };
          await writeAudit(client, 'results.push', { kind: 'run', id: run.id }, counts, audit.id);
          return written;
        });
        audit.results += written.written;
        audit.replaced += written.replaced;
        return written;
      },
    }),
  };
}
