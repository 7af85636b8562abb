import { Select, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CountBars, groupScores, ScoreBars } from '../../ui/charts/bars.tsx';
import { Histogram } from '../../ui/charts/plots.tsx';
import { QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount, formatDuration } from '../../ui/text/formats.ts';
import { type Run, scorersOf } from '../queries.ts';
import { type RunSearch, runRoute, useChangeRun } from '../runs-search.ts';
import { readMeasures, refreshMs } from './read-measures.ts';
import { COMMON_KEYS, REFRESH_MS, SliceBars, useSliceKeys } from './slices.tsx';
import { WorseSlices } from './worse-slices.tsx';

export default function ChartsTab({ run }: { readonly run: Run }) {
  const navigate = runRoute.useNavigate();
  const { scorer, slice } = runRoute.useSearch();
  const keys = useSliceKeys(run);
  // without metadata there is nothing before a choice: other charts show the common keys
  const chosen = keys.find(({ value }) => value === slice) ?? keys.find((key) => !COMMON_KEYS.includes(key));
  const show = (filter: RunSearch): void =>
    void navigate({ search: ({ columns }) => ({ columns, scorer, ...filter }) });
  const view = useChangeRun();
  const scorers = scorersOf(run);
  const order = Object.keys(run.scorers);
  const isActive = run.finished_at === null;
  const measures = useQuery({
    queryKey: ['measures', run.id, run.finished_at],
    queryFn: ({ signal }) => readMeasures(run.id, signal),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => isActive && refreshMs(state.data?.results ?? 0),
    staleTime: isActive ? REFRESH_MS : Number.POSITIVE_INFINITY,
  });
  const found = measures.data;
  return (
    <Stack>
      {scorers.length > 1 && (
        <Select
          label="Scorer"
          size="xs"
          maw={300}
          clearable
          placeholder={scorers[0]}
          value={scorer ?? null}
          onChange={(value) => view({ scorer: value ?? undefined })}
          data={[...scorers]}
        />
      )}
      <ScoreBars
        title="Score by scorer"
        groups={groupScores(run.scorers).toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))}
        onChoose={(name) => show({ scorer: name, passed: false })}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        {COMMON_KEYS.map((key) => (
          <SliceBars key={key.value} run={run} of={key} scorer={scorer} onChoose={show} />
        ))}
        <Stack gap="xs">
          <Select
            size="xs"
            w={200}
            searchable
            label="Slices by"
            value={chosen?.value ?? null}
            onChange={(value) => view({ slice: value ?? undefined })}
            data={keys.map(({ value, label }) => ({ value, label }))}
          />
          {chosen !== undefined && <SliceBars run={run} of={chosen} scorer={scorer} onChoose={show} />}
        </Stack>
        <WorseSlices run={run} scorer={scorer} onChoose={show} />
        <CountBars
          title="Finish reasons"
          counts={new Map(Object.entries(run.finish_reasons ?? {}))}
          onChoose={(finish_reason) => show({ finish_reason })}
        />
      </SimpleGrid>
      <QueryState query={measures} rows={3} />
      {found !== undefined && (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Histogram title="Latency" values={found.latenciesMs} format={formatDuration} />
            <Histogram title="Output tokens" values={found.outputTokens} format={round} />
          </SimpleGrid>
          <Dimmed size="xs">
            {found.isWhole ? '' : 'Of the first results only: '}
            {formatCount(found.latenciesMs.length)} latencies and {formatCount(found.outputTokens.length)}{' '}
            numbers of tokens in {formatCount(found.results)} results.
          </Dimmed>
        </>
      )}
    </Stack>
  );
}

const round = (value: number): string => formatCount(Math.round(value));
