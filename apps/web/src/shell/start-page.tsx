import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { apiQuery } from '../api/api.ts';
import { consoleName } from '../brand.ts';
import { WaysIn } from '../datasets/list/ways-in.tsx';
import { nameOf, type Run, runsQuery, useDatasetNames } from '../runs/queries.ts';
import { scoreText } from '../runs/run-facts.ts';
import { LinkAnchor } from '../ui/buttons.tsx';
import { Page, Part } from '../ui/layout/page.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { Age, StatusBadge } from '../ui/table/cells.tsx';
import { Dimmed, Note } from '../ui/text/dimmed.ts';
import { formatCountOf, formatScore } from '../ui/text/formats.ts';
import { readVisit } from '../ui/visits.ts';

const NEWEST = { limit: 50 } as const;
const SHOWN = 8;
const REFRESHED = { refetchInterval: 15_000 } as const;

export default function StartPage() {
  const [since] = useState(() => readVisit(Date.now()));
  const runs = useQuery({ ...runsQuery(NEWEST), ...REFRESHED });
  const datasets = useQuery({
    ...apiQuery(['datasets', NEWEST], '/datasets', { query: NEWEST }),
    ...REFRESHED,
  });
  const jobs = useQuery({ ...apiQuery(['jobs', NEWEST], '/jobs', { query: NEWEST }), ...REFRESHED });
  const isNew = (time: string | null): boolean => time === null || since === null || Date.parse(time) > since;
  const newRuns = runs.data?.data.filter(({ finished_at }) => isNew(finished_at)) ?? [];
  const newDatasets = datasets.data?.data.filter(({ created_at }) => isNew(created_at)) ?? [];
  const newJobs = jobs.data?.data.filter(({ finished_at }) => isNew(finished_at)) ?? [];
  const datasetOf = useDatasetNames(newRuns.slice(0, SHOWN));
  const isEmpty = datasets.data?.meta.total_items === 0;
  return (
    <Page
      title={isEmpty ? `Welcome to ${consoleName()}` : 'What is new'}
      subtitle={
        since === null ? (
          'Datasets, runs of models over them, and what came of it.'
        ) : (
          <>
            Since your last visit, <Age since={new Date(since).toISOString()} />
          </>
        )
      }
    >
      <QueryState query={datasets} rows={3} />
      {datasets.data !== undefined && !isEmpty && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          <News title="Runs" of={newRuns} query={runs} what="run" to="/runs">
            {(run) => (
              <li key={run.id}>
                <Group justify="space-between" wrap="nowrap" gap="md">
                  <div className="shrinks">
                    <LinkAnchor to="/runs/$id" params={{ id: run.id }} underline="hover" className="break">
                      {nameOf(run)}
                    </LinkAnchor>
                    <Dimmed size="xs" className="break">
                      {datasetOf(run)}, <Age since={run.finished_at ?? run.created_at} />
                      {failuresOf(run)}
                    </Dimmed>
                  </div>
                  {run.scores.mean === null ? (
                    <StatusBadge status={run.status} />
                  ) : (
                    <Text span className="whole">
                      <span className="key-figure">{formatScore(run.scores.mean)}</span>{' '}
                      <Note>{scoreText(run.scores).slice(formatScore(run.scores.mean).length + 1)}</Note>
                    </Text>
                  )}
                </Group>
              </li>
            )}
          </News>
          <Stack gap="xl">
            <News title="Datasets" of={newDatasets} query={datasets} what="dataset" to="/datasets">
              {({ id, name, item_count, created_at }) => (
                <li key={id}>
                  <LinkAnchor to="/datasets/$id" params={{ id }} underline="hover" className="break">
                    {name}
                  </LinkAnchor>
                  <Dimmed size="xs">
                    {formatCountOf(item_count, 'item')}, <Age since={created_at} />
                  </Dimmed>
                </li>
              )}
            </News>
            <News title="Jobs" of={newJobs} query={jobs} what="job" to="/jobs">
              {({ id, kind, status, finished_at, created_at, error }) => (
                <li key={id}>
                  <Group gap="xs">
                    <StatusBadge status={status} /> <Text size="sm">{kind}</Text>
                    <Dimmed size="xs">
                      <Age since={finished_at ?? created_at} />
                    </Dimmed>
                  </Group>
                  {error !== null && (
                    <Dimmed size="xs" className="break" lineClamp={2}>
                      {error.detail}
                    </Dimmed>
                  )}
                </li>
              )}
            </News>
          </Stack>
        </SimpleGrid>
      )}
      {datasets.data !== undefined && (
        <Part title={isEmpty ? 'Three ways in' : 'Another dataset'}>
          <WaysIn />
        </Part>
      )}
    </Page>
  );
}

const failuresOf = ({ counts: { failed } }: Run): ReactNode =>
  failed > 0 && (
    <Text span size="xs" c="var(--mantine-color-error)">
      {' '}
      · {formatCountOf(failed, 'failure')}
    </Text>
  );

function News<Row>(props: {
  readonly title: string;
  readonly of: readonly Row[];
  readonly query: UseQueryResult<{ readonly meta: { readonly total_items: number } }>;
  readonly what: string;
  readonly to: '/runs' | '/datasets' | '/jobs';
  readonly children: (row: Row) => ReactNode;
}) {
  const { title, of, query, what, to, children } = props;
  // with what did not change
  const total = query.data?.meta.total_items ?? 0;
  return (
    <Part
      title={title}
      aside={
        total > 0 && (
          <LinkAnchor to={to} size="xs">
            all {formatCountOf(total, what)}
          </LinkAnchor>
        )
      }
    >
      {query.data === undefined ? (
        <QueryState query={query} rows={3} />
      ) : of.length === 0 ? (
        <Dimmed>Nothing new.</Dimmed>
      ) : (
        <Stack component="ul" gap="sm" className="plain-list">
          {of.slice(0, SHOWN).map(children)}
        </Stack>
      )}
    </Part>
  );
}
