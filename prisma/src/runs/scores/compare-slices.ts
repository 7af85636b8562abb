import { type ComparedScores, compareScores, type PairSums } from '@svc/evaluation';
import type { StoreContext } from '../../context.ts';
import { Parameters } from '../../database/page.ts';
import { LARGE_JOINS, SNAPSHOT } from '../../database/transaction-settings.ts';
import { isUuid } from '../../database/values.ts';
import { itemValue } from '../../items/item-value.ts';
import { createReadQuery, readFrom } from '../../postgres/read-query.ts';
import { runNotFound } from '../run-row.ts';
import type { CompareRequest } from './compare-runs.ts';
import { pairSlices } from './compare-sql.ts';
import { pairingOf, stateOf } from './comparison-state.ts';
import { MAX_VALUES, notSliceable } from './slice-run.ts';
import { LONG_VALUE } from './summary-sql.ts';

/** How two runs differ in the pairs whose items have the same value. */
export interface ComparedSlice {
  /** JSON text; `null` for items without the value. */
  readonly value: string;
  readonly scores: ComparedScores;
}

export interface CompareSlicesRequest
  extends Pick<CompareRequest, 'pairBy' | 'clusterBy' | 'scorer' | 'signal'> {
  /** `tag`, or a JSON Pointer into the items of the first run. */
  readonly by: string;
}

/** See `RunStore.compareSlices`. */
export async function compareSlices(
  { pool, searches }: Pick<StoreContext, 'pool' | 'searches'>,
  id: string,
  otherId: string,
  { by, pairBy = 'hash', signal, ...request }: CompareSlicesRequest,
): Promise<readonly ComparedSlice[]> {
  for (const wanted of [id, otherId]) if (!isUuid(wanted)) throw runNotFound(wanted);
  using _permit = await searches.acquire(signal);
  const state = await stateOf(pool, id, otherId, request);
  const parameters = new Parameters([id, otherId]);
  const { add } = parameters;
  const pairing = await pairingOf(createReadQuery(pool, signal), state, pairBy, add);
  const value = by === 'tag' ? null : itemValue(by, add);
  const sql = pairSlices(pairing, value, MAX_VALUES, add);
  const rows = await readFrom(
    pool,
    (query) => query<PairSums & { readonly value: string }>(sql, parameters.values),
    signal,
    `${SNAPSHOT}; ${LARGE_JOINS}`,
  );
  if (value !== null) {
    if (rows.some((row) => row.value === LONG_VALUE))
      throw notSliceable(by, 'values of more than 1,000 bytes');
    if (rows.length > MAX_VALUES) throw notSliceable(by, `more than ${MAX_VALUES} values`);
  }
  return rows.slice(0, MAX_VALUES).map((row) => ({ value: row.value, scores: compareScores(row) }));
}
