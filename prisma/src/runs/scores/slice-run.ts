import type { GroupScores } from '@svc/evaluation';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import type { Parameters } from '../../database/page.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import { LARGE_JOINS, readFrom, SNAPSHOT } from '../../postgres/read-query.ts';
import { readJoinedVersion } from '../read-items-at.ts';
import { readRunColumns, versionOf } from '../run-row.ts';
import { scorerNumber } from '../write/result-counts.ts';
import { readGroups, SUMMED_RUN, type SummedRun } from './summarize-run.ts';
import { LONG_VALUE, MAIN_SCORES, scoresBy, sliceSpreads, sliceSums, TAG_VALUE } from './summary-sql.ts';

/** The scores of the results whose items have the same values. */
export interface RunSlice {
  /** JSON texts, in the order of `by`; `null` for an item without the value. */
  readonly values: readonly string[];
  readonly scores: GroupScores;
}

/** Values of a pointer that slices are made by. */
export const MAX_VALUES = 50;

export interface SliceRequest {
  /** `section`, `tag`, or one or two JSON Pointers into the items, of at most 50 values each. An item is in the slice of each of its tags, if it has any. */
  readonly by: readonly string[];
  /** Name of the scorer; the main one without it. */
  readonly scorer?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** SQL for what is not a value of the item. */
const PARTS: Readonly<Record<string, string>> = { section: 'to_json(s.name)::text', tag: TAG_VALUE };

/**
 * The scores of a run by values of its items.
 *
 * @throws StoreError `run_not_found`, `scorer_not_found`; `invalid_request` for more values
 */
export async function sliceRun(
  { pool, searches }: StoreContext,
  id: string,
  { by, scorer, signal }: SliceRequest,
): Promise<readonly RunSlice[]> {
  using _permit = await searches.acquire(signal);
  const groups = await readFrom(
    pool,
    async (query) => {
      const run = await readRunColumns<SummedRun>(query, id, SUMMED_RUN);
      const number = scorer === undefined ? null : scorerNumber(run.scorerNames, scorer);
      const results = number === null ? MAIN_SCORES : scoresBy(number);
      const version = await readJoinedVersion(query, versionOf(run));
      const summed = { results, isRepeated: run.isRepeated, version };
      const valuesOf = (add: Parameters['add']): readonly string[] =>
        by.map((name) => PARTS[name] ?? itemValue(name, add));
      return await readGroups(query, run, {
        sums: (add) => sliceSums(summed, valuesOf(add), MAX_VALUES ** by.length, add),
        spreads: (cluster, add) => sliceSpreads(summed, valuesOf(add), cluster, add),
      });
    },
    signal,
    `${SNAPSHOT}; ${LARGE_JOINS}`,
  );
  const slices = groups.map(({ key, scores }) => ({ values: key.split('\n'), scores }));
  for (const [index, name] of by.entries()) {
    const values = new Set(slices.map((slice) => slice.values[index]));
    if (values.has(LONG_VALUE)) throw notSliceable(name, 'values of more than 1,000 bytes');
    if (isTag(by)) continue;
    if (values.size > MAX_VALUES || slices.length > MAX_VALUES ** by.length) {
      throw notSliceable(name, `more than ${MAX_VALUES} values`);
    }
  }
  const most = isTag(by)
    ? slices.toSorted((one, other) => other.scores.results - one.scores.results).slice(0, MAX_VALUES)
    : slices;
  return most.toSorted((one, other) => compareLists(one.values, other.values));
}

/** A dataset may have any number of tags. */
const isTag = ([name, ...others]: readonly string[]): boolean => name === 'tag' && others.length === 0;

export function notSliceable(pointer: string, reason: string): StoreError {
  const message = `Cannot slice by ${pointer}: the items have ${reason}.`;
  return new StoreError('invalid_request', message, { path: 'by' });
}

function compareLists(one: readonly string[], other: readonly string[]): number {
  for (const [index, value] of one.entries()) {
    const order = compareValues(value, other[index] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers by their value, then other values by their text; null, for none, last. */
function compareValues(one: string, other: string): number {
  const rank = (value: string): number => (value === 'null' ? 2 : Number.isNaN(Number(value)) ? 1 : 0);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (rank(one) === 0 && Number(one) !== Number(other)) return Number(one) - Number(other);
  return one < other ? -1 : one > other ? 1 : 0;
}
