import { Card, Group, Progress, SimpleGrid, Tabs, Text } from '@mantine/core';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { getRouteApi } from '@tanstack/react-router';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkAnchor } from '../ui/layout/links.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { formatCount, formatDuration, formatPercent, formatScore } from '../ui/text/formats.ts';
import { JsonText } from '../ui/text/json-text.tsx';
import { ResultsTab } from './results/results-tab.tsx';
import { RunActions } from './run-actions.tsx';
import { nameOf, type Run, useRun } from './use-run.ts';

const route = getRouteApi('/runs/$id');

/** One run: how far it is, what it scored, and its results. */
export function RunPage() {
  const { id } = route.useParams();
  const { tab = 'results' } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useRun(id);
  if (found.isPending) return <PageSkeleton />;
  if (found.error !== null) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />;
  const run = found.data;
  return (
    <Page
      title={nameOf(run)}
      subtitle={
        <Group gap="sm" mt={4}>
          <StatusBadge status={run.status} />
          <LinkAnchor to="/datasets/$id" params={{ id: run.dataset_id }} size="sm">
            Dataset {run.dataset_version_hash.slice(0, 8)}
          </LinkAnchor>
          {run.imported && <span>came with a package</span>}
        </Group>
      }
      actions={<RunActions run={run} />}
    >
      {run.finished_at === null && (
        <Progress
          value={run.counts.total === 0 ? 100 : (100 * run.counts.done) / run.counts.total}
          animated
          aria-label="Progress of the run"
        />
      )}
      {run.error !== null && (
        <ErrorView error={new Error(`${run.error.code ?? 'failed'}: ${run.error.message ?? ''}`)} />
      )}
      <Summary run={run} />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: { tab: value === 'configuration' ? 'configuration' : undefined } })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="results">Results</Tabs.Tab>
          <Tabs.Tab value="configuration">Configuration</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="results" pt="sm">
          <ResultsTab run={run} />
        </Tabs.Panel>
        <Tabs.Panel value="configuration" pt="sm">
          <JsonText value={run.config as unknown as JsonValue} label="configuration" />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Summary({ run }: { readonly run: Run }) {
  const { counts, scores } = run;
  const elapsedMs =
    run.started_at === null
      ? null
      : Date.parse(run.finished_at ?? new Date().toISOString()) - Date.parse(run.started_at);
  const rate = elapsedMs === null || elapsedMs < 1000 ? null : (1000 * counts.done) / elapsedMs;
  const facts: readonly (readonly [string, string])[] = [
    ['Score', formatScore(scores.mean)],
    ['Passed', `${formatPercent(scores.pass_rate)} (${formatCount(scores.passed)})`],
    ['Done', `${formatCount(counts.done)} of ${formatCount(counts.total)}`],
    ['Failed', formatCount(counts.failed)],
    ['Unscored', formatCount(counts.unscored)],
    ['Time', elapsedMs === null ? '–' : formatDuration(elapsedMs)],
    ['Rate', rate === null ? '–' : `${rate.toFixed(1)} results/s`],
  ];
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, md: 7 }} spacing="xs" component="dl" m={0} aria-live="polite">
      {facts.map(([name, value]) => (
        <Card key={name} withBorder padding="xs">
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} fw={600} size="sm">
            {value}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}
