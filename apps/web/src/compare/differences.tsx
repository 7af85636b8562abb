import { Group, Select, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { get } from '../api/api.ts';
import { overviewQuery } from '../datasets/queries.ts';
import { nameOf, type Run, useDatasetNames } from '../runs/queries.ts';
import { RunLink, SmallButton } from '../ui/buttons.tsx';
import { IntervalBar } from '../ui/charts/interval-bar.tsx';
import { Part } from '../ui/layout/page.tsx';
import { pointerName } from '../ui/pointer-of.ts';
import { isShown, QueryState } from '../ui/query-state.tsx';
import { numbers, texts } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import type { Column } from '../ui/table/table-model.ts';
import { Dimmed, Note } from '../ui/text/dimmed.ts';
import {
  formatCount,
  formatDuration,
  formatP,
  formatScore,
  formatSigned,
  plainText,
} from '../ui/text/formats.ts';
import { costPerThousand, tokensPerThousand } from './best-of.ts';
import type { CompareSearch } from './compare-search.ts';
import type { Compared } from './summary-sentence.ts';

export function ForestPlot(props: {
  readonly first: Run;
  readonly rows: readonly ComparedRun[];
  readonly search: Pick<CompareSearch, 'by' | 'scorer' | 'slice'>;
  readonly onSlice: (slice: string) => void;
}) {
  const { first, rows, search, onSlice } = props;
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
  const sliced = { slice, by: search.by, scorer: search.scorer };
  const asked = useQueries({
    queries: rows.map((row) => ({
      queryKey: ['slice differences', first.id, row.run.id, sliced],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        readSliceDifferences(first.id, row, sliced, signal),
    })),
  });
  const unread = asked.find((one) => !isShown(one));
  const found = rows.flatMap(({ run }, at) => {
    const slices = asked[at]?.data;
    return slices === undefined ? [] : [{ run, slices }];
  });
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
        {unread !== undefined && <QueryState query={unread} rows={2} />}
        {names.length > 0 && (
          <DataTable
            label="Differences by slice"
            maxHeight={360}
            columns={[
              texts('Slice', (name: string) => (
                <Text span size="sm" dir="auto">
                  {name}
                </Text>
              )),
              ...found.map(({ run, slices }, at) => ({
                key: `${at}`,
                label: nameOf(run),
                cell: (name: string) => {
                  const of = slices.find((one) => one.name === name);
                  return of === undefined ? '–' : <Difference slice={of} scale={scale} />;
                },
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

/** How a run differs from the first one in the pairs of a slice: other minus first. */
type SliceDifference = { readonly name: string } & Omit<
  ResponseOf<'/runs/{id}/compare/{other_id}/slices', 'get'>['data'][number],
  'values'
>;

function Difference(props: { readonly slice: SliceDifference; readonly scale: number }) {
  const { scale } = props;
  const { mean_difference, ci95, mean, other_mean, paired } = props.slice;
  const difference = mean_difference ?? 0;
  const [low = difference, high = difference] = ci95 ?? [];
  return (
    <Group gap="sm" wrap="nowrap">
      <IntervalBar value={difference} ci95={ci95} scale={scale} />
      <b>{formatSigned(difference)}</b>
      <Note>
        {ci95 !== null && `${formatSigned(low)} to ${formatSigned(high)}, `}
        {formatScore(mean)} → {formatScore(other_mean)}, n = {formatCount(paired)}
      </Note>
    </Group>
  );
}

/** Smallest range of the scale, so that tiny differences do not look large. */
const MIN_SCALE = 0.01;

/** The largest difference that any interval reaches: what fills one scale for all of them. */
const scaleOf = (slices: readonly Pick<SliceDifference, 'mean_difference' | 'ci95'>[]): number =>
  Math.max(
    MIN_SCALE,
    ...slices.flatMap(({ mean_difference, ci95 }) => [mean_difference ?? 0, ...(ci95 ?? [])].map(Math.abs)),
  );

export interface ComparedRun {
  readonly run: Run;
  readonly scores: Compared;
}

type Sliced = Required<Pick<CompareSearch, 'slice'>> & Pick<CompareSearch, 'by' | 'scorer'>;

/** How a run differs from the first one in the slices of their pairs, the largest slices first. */
export async function readSliceDifferences(
  id: string,
  { run, scores }: ComparedRun,
  { slice, by, scorer }: Sliced,
  signal?: AbortSignal,
): Promise<readonly SliceDifference[]> {
  const params = { path: { id, other_id: run.id }, query: { by: slice, pair_by: by, scorer } };
  const slices =
    slice === 'section'
      ? Object.entries(scores.by_section).map(([name, section]) => ({ name, ...section }))
      : (await get('/runs/{id}/compare/{other_id}/slices', params, signal)).data.map(
          ({ values: [value], ...numbers }) => ({
            name: plainText(value as JsonValue, 100) || 'none',
            ...numbers,
          }),
        );
  return slices.filter(({ mean_difference }) => mean_difference !== null);
}

/** A run, and how it differs from the first one; null for the first one itself. */
type Row = ComparedRun | { readonly run: Run; readonly scores: null };

const number = (label: string, text: (scores: Compared) => ReactNode): Column<Row> =>
  numbers(label, ({ scores }) => scores !== null && text(scores));

export function DifferencesTable(props: {
  readonly first: Run;
  readonly rows: readonly ComparedRun[];
  /** The run whose items are listed below. */
  readonly shown: string;
  readonly onShow: (id: string) => void;
}) {
  const { first, rows, shown, onShow } = props;
  const datasetOf = useDatasetNames([first, ...rows.map(({ run }) => run)]);
  const scale = scaleOf(rows.map(({ scores }) => scores));
  const columns: Column<Row>[] = [
    texts('Run', ({ run }) => (
      <>
        <RunLink id={run.id} label={nameOf(run)} />
        <Dimmed size="xs">{datasetOf(run)}</Dimmed>
      </>
    )),
    numbers('Score', ({ scores }) =>
      formatScore(scores === null ? (rows[0]?.scores.mean ?? first.scores.mean) : scores.other_mean),
    ),
    number('Difference', ({ mean_difference }) => <b>{formatSigned(mean_difference)}</b>),
    {
      label: 'Interval (95 %)',
      cell: ({ scores }) =>
        scores === null ? <Dimmed span>the baseline</Dimmed> : <Interval scores={scores} scale={scale} />,
    },
    number('Better', ({ wins }) => formatCount(wins)),
    number('Worse', ({ losses }) => formatCount(losses)),
    number('Equal', ({ ties }) => formatCount(ties)),
    number('Items in both', ({ paired }) => formatCount(paired)),
    number('p (McNemar)', ({ p_value }) => formatP(p_value)),
    numbers('Latency (50 %)', ({ run }) => formatDuration(run.latency_ms?.p50)),
    numbers('Tokens per 1,000', ({ run }) => tokensPerThousand(run)),
  ];
  if ([first, ...rows.map(({ run }) => run)].some(({ cost }) => cost !== null))
    columns.push(numbers('Cost per 1,000', ({ run }) => costPerThousand(run)));
  if (rows.length > 1)
    columns.push({
      ...{ label: 'Items', isLabelHidden: true },
      cell: ({ run, scores }) =>
        scores !== null && (
          <SmallButton
            label="Items"
            size="compact-xs"
            variant={run.id === shown ? 'light' : 'default'}
            aria-pressed={run.id === shown}
            aria-label={`Items of ${nameOf(run)}`}
            onClick={() => onShow(run.id)}
          />
        ),
    });
  return (
    <DataTable
      label="Differences"
      columns={columns}
      rows={[{ run: first, scores: null }, ...rows]}
      keyOf={({ run }) => run.id}
    />
  );
}

function Interval(props: { readonly scores: Compared; readonly scale: number }) {
  const { scale } = props;
  const { mean_difference, ci95 } = props.scores;
  const [low, high] = ci95 ?? [];
  if (mean_difference === null || low === undefined || high === undefined) return '–';
  return (
    <>
      <IntervalBar value={mean_difference} ci95={ci95} scale={scale} />
      <Note>
        {formatSigned(low)} to {formatSigned(high)}
      </Note>
    </>
  );
}
