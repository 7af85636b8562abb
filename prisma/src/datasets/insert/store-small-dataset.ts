import { type Pool, processIdOf } from '@svc/postgres';
import pg from 'pg';
import type { SectionRecord } from '../../copy/section-totals.ts';
import type { HeldRows } from '../../copy/transaction/held-rows.ts';
import { toStoreError } from '../../database/errors.ts';
import { findStored } from './find-stored.ts';
import { insertWithItems, type NewDataset } from './insert-dataset.ts';

/** Whether {@link storeSmallDataset} can be used: behind a pooler, it is not known which process of the server has a statement. */
export function storesSmallDatasets(pool: Pool): boolean {
  return pool.limit.keepsSessions;
}

/**
 * Stores a dataset with all of its items in one round trip. When the connection breaks before the response, finds out
 * whether the dataset is stored.
 *
 * @returns when it was created
 * @throws StoreError `unavailable`: it is not stored, as far as can be found out
 */
export async function storeSmallDataset(
  pool: Pool,
  dataset: NewDataset,
  sections: readonly SectionRecord[],
  items: HeldRows,
): Promise<Date> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStoreError(error);
  });
  client.on('error', ignore);
  let isLost = false;
  try {
    return await insertWithItems(client, pool, dataset, sections, items);
  } catch (error) {
    isLost = !(error instanceof pg.DatabaseError && error.severity === 'ERROR');
    const createdAt = isLost ? await findStored(pool, dataset.id, processIdOf(client)) : null;
    if (createdAt === null) throw toStoreError(error);
    return createdAt;
  } finally {
    client.off('error', ignore);
    client.release(isLost);
  }
}

/** A connection that breaks fails the query that uses it. */
const ignore = (): void => undefined;
