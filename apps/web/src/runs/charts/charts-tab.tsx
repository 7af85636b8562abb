import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { CountBars } from '../../ui/charts/count-bars.tsx';
import { groupScores } from '../../ui/charts/group-scores.ts';
import { Histogram } from '../../ui/charts/histogram.tsx';
import { ScoreBars } from '../../ui/charts/score-bars.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { PageSkeleton } from '../../ui/layout/page-skeleton.tsx';
import { formatCount, formatDuration } from '../../ui/text/formats.ts';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { MetaSlices } from './meta-slices.tsx';
import { readMeasures } from './read-measures.ts';

const route = getRouteApi('/runs/$id');

const REFRESH_MS = 5_000;

/** The scores of a run by section, type and tag, how its results ended, and their latencies and tokens. */
export default function ChartsTab({ run }: { readonly run: Run }) {
  const navigate = route.useNavigate();
  const show = (filter: RunSearch): void =>
    void navigate({ search: ({ columns }) => ({ columns, ...filter }) });
  const isActive = run.finished_at === null;
  const measures = useQuery({
    queryKey: ['measures', run.id, run.finished_at],
    queryFn: ({ signal }) => readMeasures(run.id, signal),
    placeholderData: (before) => before,
    refetchInterval: isActive && REFRESH_MS,
    staleTime: isActive ? REFRESH_MS : Number.POSITIVE_INFINITY,
  });
  const { by_section, by_type, by_tag } = run.scores;
  const found = measures.data;
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <ScoreBars
          title="Score by section"
          groups={groupScores(by_section)}
          onChoose={(section) => show({ section })}
        />
        <ScoreBars title="Score by type" groups={groupScores(by_type)} onChoose={(type) => show({ type })} />
        <ScoreBars title="Score by tag" groups={groupScores(by_tag)} onChoose={(tag) => show({ tag })} />
        <MetaSlices run={run} />
        <CountBars
          title="Finish reasons"
          counts={new Map(Object.entries(run.finish_reasons ?? {}))}
          onChoose={(finish_reason) => show({ finish_reason })}
        />
      </SimpleGrid>
      {measures.error !== null && (
        <ErrorView error={measures.error} onRetry={() => void measures.refetch()} />
      )}
      {measures.isPending && <PageSkeleton rows={3} />}
      {found !== undefined && (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Histogram title="Latency" values={found.latenciesMs} format={formatDuration} />
            <Histogram title="Output tokens" values={found.outputTokens} format={round} />
          </SimpleGrid>
          <Text size="xs" c="dimmed">
            {found.isWhole ? '' : 'Of the first results only: '}
            {formatCount(found.latenciesMs.length)} latencies and {formatCount(found.outputTokens.length)}{' '}
            numbers of tokens in {formatCount(found.results)} results.
          </Text>
        </>
      )}
    </Stack>
  );
}

const round = (value: number): string => formatCount(Math.round(value));
