import { type GroupScore, ScoreBars } from '../../ui/charts/score-bars.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import type { Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';
import { type Slice, type SliceKey, sliceFilter, sliceName, useSlices } from './slices.ts';

/** The scores of a run by one key; each links to its results. */
export function SliceBars({
  run,
  of,
  scorer,
  onChoose,
}: {
  readonly run: Run;
  readonly of: SliceKey;
  /** The scorer of the scores; the main one without it. */
  readonly scorer: string | undefined;
  readonly onChoose: (filters: RunSearch) => void;
}) {
  const { data, error } = useSlices(run, [of.value], scorer);
  if (error !== null) return <ErrorView error={error} />;
  const slices = data?.data ?? [];
  const values = new Map(slices.map(({ values: [value] }) => [sliceName(value), value]));
  return (
    <ScoreBars
      title={`Score by ${of.label}`}
      groups={scoresOf(slices)}
      onChoose={(name) => {
        const filter = sliceFilter(of.value, values.get(name));
        if (filter !== undefined) onChoose(filter);
      }}
    />
  );
}

/** The slices with a score, the best first. */
function scoresOf(slices: readonly Slice[]): readonly GroupScore[] {
  return slices
    .flatMap(({ values, mean, ci95, ok }): GroupScore[] =>
      mean === null
        ? []
        : [{ name: sliceName(values[0]), mean, ci95: ci95 as [number, number] | null, count: ok }],
    )
    .sort((a, b) => b.mean - a.mean);
}
