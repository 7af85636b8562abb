import { Group, Select, Stack } from '@mantine/core';
import { ErrorView } from '../../ui/error-view.tsx';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { HeatMap } from './heat-map.tsx';
import { SliceBars } from './slice-bars.tsx';
import { COMMON_KEYS, useSliceKeys, useSlices } from './slices.ts';

/**
 * The scores of a run by what people choose: the values of a key of the metadata first, or of two as a heat map. Without
 * metadata there is nothing before a choice: other charts show the common keys.
 */
export function MetaSlices({
  run,
  search: { slice, slice_and: second, scorer },
  onView,
  onChoose,
}: {
  readonly run: Run;
  readonly search: RunSearch;
  readonly onView: (changes: RunSearch) => void;
  /** Lists the results of a slice. */
  readonly onChoose: (filters: RunSearch) => void;
}) {
  const keys = useSliceKeys(run);
  const first = keys.find(({ value }) => value === slice) ?? keys.find((key) => !COMMON_KEYS.includes(key));
  const other = keys.find(({ value }) => value === second && value !== first?.value);
  const found = useSlices(
    run,
    first === undefined || other === undefined ? [] : [first.value, other.value],
    scorer,
  );
  const field = { size: 'xs', w: 200, searchable: true } as const;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Select
          {...field}
          label="Slices by"
          allowDeselect={false}
          value={first?.value ?? null}
          onChange={(value) => onView({ slice: value ?? undefined })}
          data={keys}
        />
        {first !== undefined && (
          <Select
            {...field}
            label="And by"
            clearable
            value={other?.value ?? null}
            onChange={(value) => onView({ slice_and: value ?? undefined })}
            data={keys.filter((key) => key !== first)}
          />
        )}
      </Group>
      {found.error !== null && <ErrorView error={found.error} />}
      {first !== undefined && other === undefined && (
        <SliceBars run={run} of={first} scorer={scorer} onChoose={onChoose} />
      )}
      {first !== undefined && other !== undefined && (
        <HeatMap keys={[first, other]} slices={found.data?.data ?? []} onChoose={onChoose} />
      )}
    </Stack>
  );
}
