import { Group, Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import type { GroupScore } from '../../ui/charts/group-scores.ts';
import { ScoreBars } from '../../ui/charts/score-bars.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { HeatMap } from './heat-map.tsx';
import { type Slice, sliceFilter, sliceName, useSliceKeys } from './slices.ts';

/** The scores of a run by the values of a key of the metadata, or of two as a heat map. */
export function MetaSlices({
  run,
  search: { slice, slice_and: second, scorer },
  onView,
  onChoose,
}: {
  readonly run: Run;
  readonly search: RunSearch;
  readonly onView: (changes: Partial<RunSearch>) => void;
  /** Lists the results of a slice. */
  readonly onChoose: (filters: Partial<RunSearch>) => void;
}) {
  const api = useApi();
  const keys = useSliceKeys(run);
  const first = keys.find(({ value }) => value === slice) ?? keys[0];
  const by = [first?.value, second].filter((one) => one !== undefined);
  const found = useQuery({
    queryKey: ['slices', run.id, by, scorer, run.finished_at],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/runs/{id}/slices', { params: { path: { id: run.id }, query: { by, scorer } }, signal }),
      ),
    enabled: first !== undefined,
  });
  if (first === undefined) return null;
  const other = keys.find(({ value }) => value === second);
  const slices = found.data?.data ?? [];
  const values = new Map(slices.map(({ values: [value] }) => [sliceName(value), value]));
  const field = { size: 'xs', w: 200, searchable: true } as const;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Select
          {...field}
          label="Key of the metadata"
          allowDeselect={false}
          value={first.value}
          onChange={(value) => onView({ slice: value ?? undefined })}
          data={keys}
        />
        <Select
          {...field}
          label="And a second one"
          clearable
          value={other?.value ?? null}
          onChange={(value) => onView({ slice_and: value ?? undefined })}
          data={keys.filter(({ value }) => value !== first.value)}
        />
      </Group>
      {found.error !== null && <ErrorView error={found.error} />}
      {other === undefined ? (
        <ScoreBars
          title={`Score by ${first.label}`}
          groups={scoresOf(slices)}
          onChoose={(name) => {
            const filter = sliceFilter(first.value, values.get(name));
            if (filter !== undefined) onChoose(filter);
          }}
        />
      ) : (
        <HeatMap keys={[first, other]} slices={slices} onChoose={onChoose} />
      )}
    </Stack>
  );
}

/** The slices with a score, the best first. */
function scoresOf(slices: readonly Slice[]): readonly GroupScore[] {
  return slices
    .flatMap(({ values, mean, ci95, results }): GroupScore[] =>
      mean === null
        ? []
        : [{ name: sliceName(values[0]), mean, ci95: ci95 as [number, number] | null, count: results }],
    )
    .sort((a, b) => b.mean - a.mean);
}
