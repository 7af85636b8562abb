import { Alert, Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { loadedAgain } from '../api/service-responds.ts';
import { nameOf, type Run, scorersOf } from '../runs/use-run.ts';
import { RowsDrawing } from '../ui/charts/save/rows-drawing.tsx';
import { SaveChart } from '../ui/charts/save/save-chart.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { SmallButton } from '../ui/small-button.ts';
import { CopyAction } from '../ui/text/copy-action.tsx';
import { useChangeSearch } from '../ui/use-change-search.ts';
import { type CompareSearch, ONLY } from './compare-search.ts';
import { ConfigDifferences } from './config-differences.tsx';
import { DifferencesTable } from './differences-table.tsx';
import { ForestPlot } from './forest-plot.tsx';
import { ItemsThatDiffer } from './items-that-differ.tsx';
import { ReportButton } from './report-button.tsx';
import { scaleOf } from './slice-differences.ts';
import { summarySentence } from './summary-sentence.ts';
import type { Compared } from './use-differences.ts';

const route = getRouteApi('/compare');

const RunsOfDataset = lazy(loadedAgain(() => import('./runs-of-dataset.tsx')));

/** How runs differ from the first one: their scores, also by section, and the items in which two of them differ. */
export function Comparison({ runs }: { readonly runs: readonly Run[] }) {
  const api = useApi();
  const search = route.useSearch();
  const { other: stated, only, by, scorer } = search;
  const changeSearch = useChangeSearch<CompareSearch>(route);
  const [first, ...others] = runs;
  const compared = useQueries({
    queries: others.map(({ id }) => ({
      queryKey: ['comparison', first?.id, id, by, scorer],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        dataOf(
          api.GET('/runs/{id}/compare/{other_id}', {
            params: { path: { id: first?.id ?? '', other_id: id }, query: { limit: 1, pair_by: by, scorer } },
            signal,
          }),
        ),
    })),
  });
  const other = others.find(({ id }) => id === stated) ?? others[0];
  if (first === undefined || other === undefined) return null;
  const error = compared.find(({ error: one }) => one !== null)?.error ?? null;
  const change = (changes: CompareSearch): void => changeSearch({ item: undefined, ...changes });
  const rows = others.flatMap((run, at) => {
    const scores = compared[at]?.data;
    return scores === undefined ? [] : [{ run, scores }];
  });
  const scorers = scorersOf(first).filter((name) => others.every((run) => scorersOf(run).includes(name)));
  const shown = compared[others.indexOf(other)]?.data;
  const sentence = shown === undefined ? null : summarySentence(shown);
  const reason =
    compared.find(({ data }) => data !== undefined && data.reason !== null)?.data?.reason ?? null;
  if (error !== null || reason !== null)
    return (
      <NotComparable error={error} reason={reason} runs={runs} onPair={(next) => change({ by: next })} />
    );
  return (
    <Stack gap="md">
      <ConfigDifferences runs={runs} />
      {scorers.length > 0 && (
        <Select
          label="Scorer"
          size="xs"
          w={240}
          clearable
          placeholder="The main one of each run"
          value={scorer ?? null}
          onChange={(value) => change({ scorer: value ?? undefined })}
          data={scorers}
        />
      )}
      {compared.some(({ data }) => data === undefined) && <PageSkeleton rows={3} />}
      <DifferencesTable first={first} rows={rows} shown={other.id} onShow={(id) => change({ other: id })} />
      {sentence !== null && (
        <Group gap={6}>
          <ReportButton runs={runs} compared={{ by, scorer }} />
          <Text size="sm" className="numbers">
            {nameOf(other)}: {sentence}
          </Text>
          <CopyAction text={sentence} label="Copy the sentence" />
          <SaveChart title={`Differences from ${nameOf(first)}`} draw={() => drawing(first, rows)} />
        </Group>
      )}
      {rows.length > 0 && (
        <ForestPlot first={first} rows={rows} search={search} onSlice={(slice) => change({ slice })} />
      )}
      <Suspense fallback={<PageSkeleton rows={2} />}>
        <RunsOfDataset runs={runs} against={search.against} onAgainst={(against) => change({ against })} />
      </Suspense>
      <Group gap="sm">
        <SegmentedControl
          aria-label="Which differences"
          size="xs"
          value={only ?? 'all'}
          onChange={(value) => change({ only: ONLY.find((one) => one === value) })}
          data={[
            { value: 'all', label: 'All differences' },
            { value: 'regressions', label: 'Worse' },
            { value: 'improvements', label: 'Better' },
            { value: 'changed_output', label: 'Other output' },
          ]}
        />
        {by !== undefined && (
          <Button size="xs" variant="light" onClick={() => change({ by: undefined })}>
            Paired by {by}: pair by content
          </Button>
        )}
        {others.length > 1 && (
          <Select
            aria-label="Run whose items are listed"
            size="xs"
            w={280}
            value={other.id}
            onChange={(id) => change({ other: id ?? undefined })}
            data={others.map((run) => ({ value: run.id, label: nameOf(run) }))}
          />
        )}
      </Group>
      <ItemsThatDiffer key={`${first.id} ${other.id}`} runs={runs} first={first} other={other} />
    </Stack>
  );
}

/** The differences with their intervals, for a file. */
function drawing(
  first: Run,
  rows: readonly { readonly run: Run; readonly scores: Compared }[],
): ReactElement {
  const drawn = rows.map(({ run, scores }) => {
    const [low, high] = scores.ci95 ?? [];
    const difference = scores.mean_difference ?? 0;
    return {
      name: nameOf(run),
      value: difference,
      difference,
      low,
      high,
      note: summarySentence(scores) ?? '–',
    };
  });
  const scale = scaleOf(drawn);
  return (
    <RowsDrawing
      title={`Differences from ${nameOf(first)}, with 95 % intervals`}
      from={-scale}
      to={scale}
      rows={drawn}
    />
  );
}

/** Why there is nothing to compare, and what the runs are configured with. */
function NotComparable({
  error,
  reason,
  runs,
  onPair,
}: {
  readonly error: Error | null;
  readonly reason: string | null;
  readonly runs: readonly Run[];
  readonly onPair: (by: 'id' | 'prompt') => void;
}) {
  return (
    <Stack gap="md">
      {error === null ? (
        <Alert color="orange" variant="light" title="These runs share no scored items" role="alert">
          <Text size="sm">{reason}</Text>
          <Group gap="xs" mt="sm">
            <SmallButton onClick={() => onPair('id')}>Pair by id</SmallButton>
            <SmallButton onClick={() => onPair('prompt')}>Pair by prompt</SmallButton>
          </Group>
        </Alert>
      ) : (
        <ErrorView error={error} />
      )}
      <ConfigDifferences runs={runs} />
    </Stack>
  );
}
