import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/api.ts';
import { runsQuery } from '../runs/queries.ts';
import { LinkAnchor } from '../ui/buttons.tsx';
import { Sparkline } from '../ui/charts/interval-bar.tsx';
import { type Fact, Facts, NameValues } from '../ui/layout/name-values.tsx';
import { Part } from '../ui/layout/page.tsx';
import { ages, numbers } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import type { Column } from '../ui/table/table-model.ts';
import { formatBytes, formatCount, formatCountOf, formatPercent, present } from '../ui/text/formats.ts';

/** Of facts, in wide windows. */
const COLUMNS = 4;
const REFRESH_MS = 5_000;

export function Installation({ status }: { readonly status: Status }) {
  const { queue, imports } = status;
  return (
    <Stack>
      <Part title="Work">
        <Facts
          columns={COLUMNS}
          facts={[
            ...useInProgress(),
            [
              'Tasks in the queue',
              formatCount(queue.queued + queue.retry),
              `${formatCount(queue.running)} with workers, ${formatCount(queue.failed)} failed in a week`,
            ],
            [
              'Imports of the last day',
              `${formatCount(imports.succeeded)} stored`,
              `${formatCount(imports.failed)} failed, ${formatCount(imports.cancelled)} cancelled`,
            ],
          ]}
        />
      </Part>
      <Part title="Workers">
        <DataTable
          label="Table of workers"
          columns={WORKERS}
          rows={status.workers}
          keyOf={({ id }) => id}
          empty="No worker has reported in the last 15 seconds. Runs and imports wait until one does."
        />
      </Part>
      <Part title="Storage">
        <Facts columns={COLUMNS} facts={storageOf(status)} />
      </Part>
      <ProviderCalls status={status} />
    </Stack>
  );
}

function storageOf({ database, disk, asset_store: assets, datasets, runs }: Status): readonly Fact[] {
  const place = assets.kind === 's3' ? 'the object storage' : 'the database';
  const stored = `${formatCountOf(datasets, 'dataset')}, ${formatCountOf(runs, 'run')}`;
  const free = disk && `${formatPercent(disk.free_bytes / disk.bytes)} of ${formatBytes(disk.bytes)}`;
  return present<Fact>([
    ['Database', formatBytes(database.bytes), stored],
    ['Files of items', formatBytes(assets.bytes), `${formatCount(assets.files)} in ${place}`],
    disk !== null && ['Disk', `${formatBytes(disk.free_bytes)} free`, free],
  ]);
}

const partText = (part: number, all: number): string => `${formatCount(part)} of ${formatCount(all)}`;

const WORKERS: readonly Column<Status['workers'][number]>[] = [
  { label: 'Worker', cell: ({ id }) => id.slice(0, 8) },
  { label: 'Version', cell: ({ version }) => version },
  ages('Started', ({ started_at }) => started_at),
  numbers('Runs', ({ running, concurrency }) => partText(running.runs, concurrency.runs)),
  numbers('Imports', ({ running, concurrency }) => partText(running.jobs, concurrency.jobs)),
];

function ProviderCalls({ status }: { readonly status: Status }) {
  const minutes = minutesOf(status.provider_requests, Date.now());
  const total = minutes.reduce((sum, { requests }) => sum + requests, 0);
  const failed = minutes.reduce((sum, { errors }) => sum + errors, 0);
  return (
    <Part title="Requests to models per minute, last six hours">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
        <Sparkline title="Sent" values={minutes.map(({ requests }) => requests)} format={formatCount} />
        <Sparkline title="Failed" values={minutes.map(({ errors }) => errors)} format={formatCount} />
        <Text size="sm">
          {formatCount(total)} requests, {formatCount(failed)} failed
          {total > 0 && ` (${formatPercent(failed / total)})`}.{' '}
          <LinkAnchor to="/runs" size="sm">
            Runs
          </LinkAnchor>
        </Text>
      </SimpleGrid>
    </Part>
  );
}

export function Limits({ limits }: { readonly limits: Status['limits'] }) {
  return (
    <Part title="Limits">
      <NameValues
        hasCounts
        rows={Object.entries(limits).map(([name, value]) => [
          `SVC_${name.toUpperCase()}`,
          value === 0 ? 'none' : name.endsWith('_bytes') ? formatBytes(value) : formatCount(value),
        ])}
      />
    </Part>
  );
}

const HISTORY_MINUTES = 360;
const MINUTE_MS = 60_000;

/** Every minute of the last six hours; the service leaves out minutes without requests. */
function minutesOf(listed: Status['provider_requests'], nowMs: number) {
  const found = new Map(
    listed.map(({ minute, ...counts }) => [Math.floor(Date.parse(minute) / MINUTE_MS), counts]),
  );
  const last = Math.floor(nowMs / MINUTE_MS);
  return Array.from(
    { length: HISTORY_MINUTES },
    (_, at) => found.get(last - HISTORY_MINUTES + 1 + at) ?? { requests: 0, errors: 0 },
  );
}

const ACTIVE = { status: 'running', limit: 1 } as const;

function useInProgress(): readonly Fact[] {
  const runs = useQuery({ ...runsQuery(ACTIVE), refetchInterval: REFRESH_MS });
  const jobs = useQuery({
    ...apiQuery(['jobs', ACTIVE], '/jobs', { query: ACTIVE }),
    refetchInterval: REFRESH_MS,
  });
  const countOf = (list: typeof runs.data | typeof jobs.data): string =>
    list === undefined ? '…' : formatCount(list.meta.total_items);
  const linkTo = (to: '/runs' | '/jobs') => (
    <LinkAnchor to={to} search={{ status: 'running' }} size="xs">
      See them
    </LinkAnchor>
  );
  return [
    ['Runs in progress', countOf(runs.data), linkTo('/runs')],
    ['Imports in progress', countOf(jobs.data), linkTo('/jobs')],
  ];
}

type Status = ResponseOf<'/status', 'get'>;

export const statusQuery = queryOptions({
  ...apiQuery(['status'], '/status', {}),
  refetchInterval: REFRESH_MS,
});
