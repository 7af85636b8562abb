import type { ResponseOf } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useQueries } from '@tanstack/react-query';
import { get } from '../api/api.ts';
import type { Run } from '../runs/queries.ts';
import { plainText } from '../ui/text/pretty-json.ts';
import type { CompareSearch } from './compare-search.ts';
import type { Compared } from './summary-sentence.ts';

/** How a run differs from the first one in the pairs of a slice. */
export interface SliceDifference {
  readonly name: string;
  /** Other minus first. */
  readonly difference: number;
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly mean: number | null;
  readonly otherMean: number | null;
  readonly pairs: number;
}

type Slices = ResponseOf<'/runs/{id}/compare/{other_id}/slices', 'get'>['data'];
type Scores = Omit<Slices[number], 'values'>;

/** Smallest range of the scale, so that tiny differences do not look large. */
const MIN_SCALE = 0.01;

/** The largest difference that any interval reaches: what fills one scale for all of them. */
export const scaleOf = (slices: readonly Pick<SliceDifference, 'difference' | 'low' | 'high'>[]): number =>
  Math.max(
    MIN_SCALE,
    ...slices.flatMap(({ difference, low = 0, high = 0 }) => [difference, low, high].map(Math.abs)),
  );

type Sliced = Required<Pick<CompareSearch, 'slice'>> & Pick<CompareSearch, 'by' | 'scorer'>;

/** How runs differ from the first one in the slices of their pairs, the largest slices first. */
export function useSliceDifferences(
  first: Run,
  rows: readonly { readonly run: Run; readonly scores: Compared }[],
  { slice, by, scorer }: Sliced,
) {
  const sliced = { slice, by, scorer };
  const asked = useQueries({
    queries: rows.map(({ run, scores }) => ({
      queryKey: ['slice differences', first.id, run.id, sliced],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        readSliceDifferences(first.id, { run, scores }, sliced, signal),
    })),
  });
  return {
    found: rows.flatMap(({ run }, at) => {
      const slices = asked[at]?.data;
      return slices === undefined ? [] : [{ run, slices }];
    }),
    error: asked.find(({ error }) => error !== null)?.error ?? null,
    isPending: asked.some(({ isPending }) => isPending),
  };
}

/** The same of one run. */
export async function readSliceDifferences(
  id: string,
  { run, scores }: { readonly run: Run; readonly scores: Compared },
  { slice, by, scorer }: Sliced,
  signal?: AbortSignal,
): Promise<readonly SliceDifference[]> {
  if (slice === 'section')
    return Object.entries(scores.by_section).flatMap(([name, section]) => differenceOf(name, section));
  const { data } = await get(
    '/runs/{id}/compare/{other_id}/slices',
    { path: { id, other_id: run.id }, query: { by: slice, pair_by: by, scorer } },
    signal,
  );
  return data.flatMap(({ values: [value], ...numbers }) =>
    differenceOf(plainText(value as JsonValue, 100) || 'none', numbers),
  );
}

function differenceOf(
  name: string,
  { mean_difference, ci95, mean, other_mean, paired }: Scores,
): readonly SliceDifference[] {
  const [low, high] = ci95 ?? [];
  return mean_difference === null
    ? []
    : [{ name, difference: mean_difference, low, high, mean, otherMean: other_mean, pairs: paired }];
}
