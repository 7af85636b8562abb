import { Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../datasets/queries.ts';
import { nameOf, type Run } from '../runs/queries.ts';
import { IntervalBar } from '../ui/charts/interval-bar.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Part } from '../ui/layout/part.tsx';
import { pointerName } from '../ui/pointer-of.ts';
import { DataTable } from '../ui/table/data-table.tsx';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount, formatScore, formatSigned } from '../ui/text/formats.ts';
import type { CompareSearch } from './compare-search.ts';
import { type SliceDifference, scaleOf, useSliceDifferences } from './slice-differences.ts';
import type { Compared } from './summary-sentence.ts';

/** How runs differ from the first one in each slice of their pairs, on one scale. */
export function ForestPlot({
  first,
  rows,
  search,
  onSlice,
}: {
  readonly first: Run;
  /** The other runs, each with its comparison. */
  readonly rows: readonly { readonly run: Run; readonly scores: Compared }[];
  readonly search: Pick<CompareSearch, 'by' | 'scorer' | 'slice'>;
  readonly onSlice: (slice: string) => void;
}) {
  const keys =
    useQuery(overviewQuery({ id: first.dataset_id, version: first.dataset_version })).data?.slicingKeys ?? [];
  const hasSections = rows.some(({ scores }) => Object.keys(scores.by_section).length > 1);
  const hasTags = Object.keys(first.scores.by_tag ?? {}).length > 0;
  const slice = search.slice ?? (hasSections ? 'section' : hasTags ? 'tag' : '/type');
  const choices = [
    { value: 'section', label: 'Section' },
    { value: 'tag', label: 'Tag' },
    { value: '/type', label: 'Type' },
    ...keys.map((pointer) => ({ value: `/meta${pointer}`, label: `Metadata: ${pointerName(pointer)}` })),
  ];
  const { found, error, isPending } = useSliceDifferences(first, rows, { ...search, slice });
  const names = [...new Set(found.flatMap(({ slices }) => slices.map(({ name }) => name)))];
  const scale = scaleOf(found.flatMap(({ slices }) => slices));
  return (
    <Part title="Difference by slice, with 95 % intervals">
      <Stack gap="xs">
        <Select
          aria-label="Slices"
          size="xs"
          w={240}
          searchable
          value={slice}
          onChange={(value) => value !== null && onSlice(value)}
          data={choices}
        />
        {error !== null && <ErrorView error={error} />}
        {isPending && <PageSkeleton rows={2} />}
        {names.length > 0 && (
          <DataTable
            label="Differences by slice"
            maxHeight={360}
            columns={[
              {
                label: 'Slice',
                wraps: true,
                size: 110,
                cell: (name: string) => (
                  <Text span size="sm" dir="auto">
                    {name}
                  </Text>
                ),
              },
              ...found.map(({ run, slices }, at) => ({
                label: `${nameOf(run)}${'\u200b'.repeat(at)}`,
                cell: (name: string) => (
                  <Difference slice={slices.find((one) => one.name === name)} scale={scale} />
                ),
              })),
            ]}
            rows={names}
            keyOf={(name) => name}
          />
        )}
      </Stack>
    </Part>
  );
}

function Difference({
  slice,
  scale,
}: {
  readonly slice: SliceDifference | undefined;
  readonly scale: number;
}) {
  if (slice === undefined) return '–';
  const { difference, low, high, mean, otherMean, pairs } = slice;
  return (
    <Group gap="sm" wrap="nowrap">
      <IntervalBar value={difference} low={low ?? difference} high={high ?? difference} scale={scale} />
      <b>{formatSigned(difference)}</b>
      <Dimmed span size="xs">
        {low !== undefined && `${formatSigned(low)} to ${formatSigned(high)}, `}
        {formatScore(mean)} → {formatScore(otherMean)}, n = {formatCount(pairs)}
      </Dimmed>
    </Group>
  );
}
