import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { Histogram } from '../../ui/charts/histogram.tsx';
import { type GroupScore, ScoreBars } from '../../ui/charts/score-bars.tsx';
import { ErrorView } from '../../ui/error-view.tsx';
import { PageSkeleton } from '../../ui/layout/page-skeleton.tsx';
import { formatCount, formatDuration } from '../../ui/text/formats.ts';
import type { Run } from '../use-run.ts';
import { MEASURED_RESULTS, readMeasures } from './read-measures.ts';

type Groups = NonNullable<Run['scores']['by_section']>;

/** The scores of a run by section, type and tag, and how its latencies and tokens are distributed. */
export default function ChartsTab({ run }: { readonly run: Run }) {
  const api = useApi();
  const measures = useQuery({
    queryKey: ['measures', run.id, run.counts.done],
    queryFn: ({ signal }) => readMeasures(api, run.id, signal),
    placeholderData: (before) => before,
  });
  const { by_section, by_type, by_tag } = run.scores;
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <ScoreBars title="Score by section" groups={groupsOf(by_section)} />
        <ScoreBars title="Score by type" groups={groupsOf(by_type)} />
        <ScoreBars title="Score by tag" groups={groupsOf(by_tag)} />
      </SimpleGrid>
      {measures.error !== null && <ErrorView error={measures.error} />}
      {measures.isPending && <PageSkeleton rows={3} />}
      {measures.data !== undefined && (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Histogram title="Latency" values={measures.data.latenciesMs} format={formatDuration} />
            <Histogram title="Output tokens" values={measures.data.outputTokens} format={round} />
          </SimpleGrid>
          {run.counts.done > MEASURED_RESULTS && (
            <Text size="xs" c="dimmed">
              Latencies and tokens are those of the first {formatCount(MEASURED_RESULTS)} results.
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

const round = (value: number): string => formatCount(Math.round(value));

/** The groups with a score, the best first. */
function groupsOf(groups: Groups | undefined): readonly GroupScore[] {
  return Object.entries(groups ?? {})
    .flatMap(([name, { mean, ci95, results }]): GroupScore[] =>
      mean === null ? [] : [{ name, mean, ci95: ci95 as [number, number] | null, count: results ?? 0 }],
    )
    .sort((a, b) => b.mean - a.mean);
}
