import { Select, Stack } from '@mantine/core';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { SliceBars } from './slice-bars.tsx';
import { COMMON_KEYS, useSliceKeys } from './slices.ts';

/**
 * The scores of a run by what people choose: the values of the metadata at a pointer. Without metadata there is nothing before
 * a choice: other charts show the common keys.
 */
export function MetaSlices({
  run,
  search: { slice, scorer },
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
  const chosen = keys.find(({ value }) => value === slice) ?? keys.find((key) => !COMMON_KEYS.includes(key));
  return (
    <Stack gap="xs">
      <Select
        size="xs"
        w={200}
        searchable
        label="Slices by"
        allowDeselect={false}
        value={chosen?.value ?? null}
        onChange={(value) => onView({ slice: value ?? undefined })}
        data={keys}
      />
      {chosen !== undefined && <SliceBars run={run} of={chosen} scorer={scorer} onChoose={onChoose} />}
    </Stack>
  );
}
