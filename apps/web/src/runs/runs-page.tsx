import { Button, Checkbox, Group, Select, Table, Text } from '@mantine/core';
import { IconArrowsDiff, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useCan } from '../session/session.tsx';
import { ErrorView } from '../ui/error-view.tsx';
import { LinkButton } from '../ui/layout/links.tsx';
import { Page } from '../ui/layout/page.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { Pager } from '../ui/layout/pager.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { formatAge, formatCount, formatPercent, formatScore } from '../ui/text/formats.ts';
import { useNow } from '../ui/use-now.ts';
import { RUN_STATUSES } from './runs-search.ts';
import { nameOf, type Run } from './use-run.ts';

const route = getRouteApi('/runs');

const REFRESH_MS = 2000;
const IDLE_REFRESH_MS = 15_000;

/** The runs: a table with filters and pages, from which some can be compared. */
export function RunsPage() {
  const api = useApi();
  const { dataset, status, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const canEdit = useCan('editor');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const found = useQuery({
    queryKey: ['runs', { dataset, status, cursor }],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/runs', { params: { query: { dataset_id: dataset, status, cursor, limit: 50 } }, signal }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ finished_at }) => finished_at === null) === true
        ? REFRESH_MS
        : IDLE_REFRESH_MS,
  });
  const toggle = (id: string): void =>
    setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]));
  return (
    <Page
      title="Runs"
      subtitle={dataset === undefined ? undefined : 'of one dataset'}
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowsDiff size={16} />}
            disabled={chosen.length < 2}
            onClick={() => void navigate({ to: '/compare', search: { runs: chosen.join(',') } })}
          >
            Compare {chosen.length < 2 ? '' : chosen.length}
          </Button>
          {canEdit && (
            <LinkButton size="xs" leftSection={<IconPlus size={16} />} to="/runs/new" search={{ dataset }}>
              New run
            </LinkButton>
          )}
        </>
      }
    >
      <Group role="search" aria-label="Runs">
        <Select
          aria-label="Status"
          placeholder="Status"
          size="xs"
          w={150}
          clearable
          value={status ?? null}
          onChange={(value) =>
            void navigate({ search: { dataset, status: RUN_STATUSES.find((one) => one === value) } })
          }
          data={RUN_STATUSES}
        />
        {dataset !== undefined && (
          <Button size="xs" variant="subtle" onClick={() => void navigate({ search: { status } })}>
            Runs of all datasets
          </Button>
        )}
      </Group>
      {found.error !== null && <ErrorView error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <PageSkeleton />}
      {found.data !== undefined && (
        <>
          {found.data.data.length === 0 ? (
            <Text c="dimmed" size="sm">
              No runs yet. A run sends the items of a dataset to a model and scores the answers.
            </Text>
          ) : (
            <RunsTable runs={found.data.data} chosen={chosen} onToggle={toggle} />
          )}
          <Pager
            total={found.data.meta.total_items}
            what="runs"
            isFirst={cursor === undefined}
            nextCursor={found.data.meta.next_cursor}
            onCursor={(next) => void navigate({ search: { dataset, status, cursor: next } })}
          />
        </>
      )}
    </Page>
  );
}

function RunsTable({
  runs,
  chosen,
  onToggle,
}: {
  readonly runs: readonly Run[];
  readonly chosen: readonly string[];
  readonly onToggle: (id: string) => void;
}) {
  const now = useNow();
  return (
    <section className="scroll-x" aria-label="Table of runs" tabIndex={0}>
      <Table highlightOnHover miw={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Td w={36} />
            <Table.Th>Name</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Done</Table.Th>
            <Table.Th>Score</Table.Th>
            <Table.Th>Passed</Table.Th>
            <Table.Th>Failed</Table.Th>
            <Table.Th>Started</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id}>
              <Table.Td>
                <Checkbox
                  size="xs"
                  aria-label={`Compare ${nameOf(run)}`}
                  checked={chosen.includes(run.id)}
                  onChange={() => onToggle(run.id)}
                />
              </Table.Td>
              <Table.Td maw={360}>
                <Link to="/runs/$id" params={{ id: run.id }} className="row-link">
                  <span className="break">{nameOf(run)}</span>
                </Link>
              </Table.Td>
              <Table.Td>
                <StatusBadge status={run.status} />
              </Table.Td>
              <Table.Td>
                {formatCount(run.counts.done)} / {formatCount(run.counts.total)}
              </Table.Td>
              <Table.Td>{formatScore(run.scores.mean)}</Table.Td>
              <Table.Td>{formatPercent(run.scores.pass_rate)}</Table.Td>
              <Table.Td>{run.counts.failed === 0 ? '–' : formatCount(run.counts.failed)}</Table.Td>
              <Table.Td>{formatAge(run.created_at, now)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
