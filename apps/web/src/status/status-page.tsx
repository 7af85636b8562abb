import { Anchor, Badge, Card, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Part } from '../ui/layout/part.tsx';
import { formatCount } from '../ui/text/formats.ts';
import { parseMetrics, type Sample, sumOf } from './parse-metrics.ts';

const REFRESH_MS = 5000;

interface Readiness {
  readonly status: string;
  readonly checks: Readonly<Record<string, boolean>>;
}

/** What the service is doing now, from its readiness and its metrics. */
export function StatusPage() {
  const api = useApi();
  const readiness = useQuery({
    queryKey: ['readyz'],
    // not ready is an answer too
    queryFn: async ({ signal }) => (await (await fetch('/readyz', { signal })).json()) as Readiness,
    refetchInterval: REFRESH_MS,
  });
  const metrics = useQuery({
    queryKey: ['metrics'],
    queryFn: async ({ signal }) => ({
      atMs: performance.now(),
      samples: parseMetrics(String(await dataOf(api.GET('/metrics', { parseAs: 'text', signal })))),
    }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Status" actions={<Anchor href="/docs">API documentation</Anchor>}>
      <Group gap="xs" role="status">
        <Badge color={readiness.data?.status === 'ok' ? 'teal' : 'red'} variant="dot" tt="none">
          {readiness.data === undefined ? 'unknown' : readiness.data.status === 'ok' ? 'ready' : 'not ready'}
        </Badge>
        {Object.entries(readiness.data?.checks ?? {}).map(([name, isGood]) => (
          <Badge key={name} variant="default" tt="none">
            {name}: {isGood ? 'good' : 'failing'}
          </Badge>
        ))}
      </Group>
      {metrics.error !== null && <ErrorView error={metrics.error} onRetry={() => void metrics.refetch()} />}
      {metrics.data !== undefined && <Numbers {...metrics.data} />}
    </Page>
  );
}

function Numbers({ samples, atMs }: { readonly samples: readonly Sample[]; readonly atMs: number }) {
  const before = useRef<{ readonly atMs: number; readonly requests: number } | null>(null);
  const last = useRef<{ readonly atMs: number; readonly requests: number } | null>(null);
  const requests = sumOf(samples, 'svc_http_requests_total');
  const failures = sumOf(samples, 'svc_http_requests_total', ({ status_code }) =>
    /^5/.test(status_code ?? ''),
  );
  if (last.current?.atMs !== atMs) {
    before.current = last.current;
    last.current = { atMs, requests };
  }
  const elapsed = before.current === null ? 0 : (atMs - before.current.atMs) / 1000;
  const rate = elapsed > 0 && before.current !== null ? (requests - before.current.requests) / elapsed : null;
  const version = samples.find(({ name }) => name === 'svc_build_info')?.labels['version'];
  const facts: readonly (readonly [string, string])[] = [
    ['Version', version ?? '–'],
    ['Requests', formatCount(requests)],
    ['Requests per second', rate === null ? '–' : rate.toFixed(1)],
    ['Server errors', formatCount(failures)],
    ['Requests under way', formatCount(sumOf(samples, 'svc_http_requests_in_progress'))],
    ['Queued tasks', formatCount(sumOf(samples, 'svc_queue_jobs', ({ state }) => state === 'queued'))],
    [
      'Running tasks',
      formatCount(sumOf(samples, 'svc_queue_jobs', ({ state }) => state === 'running' || state === 'active')),
    ],
    ['Imported items', formatCount(sumOf(samples, 'svc_dataset_import_items_total'))],
  ];
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, sm: 4 }} component="dl" m={0}>
        {facts.map(([name, value]) => (
          <Card key={name} withBorder padding="sm">
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Text component="dd" m={0} fw={600} className="break">
              {value}
            </Text>
          </Card>
        ))}
      </SimpleGrid>
      <Counts title="Queue" samples={samples} name="svc_queue_jobs" label="state" />
      <Counts title="Runs" samples={samples} name="svc_runs_total" label="status" />
      <Counts title="Imports" samples={samples} name="svc_dataset_imports_total" label="outcome" />
      <Counts title="Responses" samples={samples} name="svc_http_requests_total" label="status_code" />
    </Stack>
  );
}

function Counts({
  title,
  samples,
  name,
  label,
}: {
  readonly title: string;
  readonly samples: readonly Sample[];
  readonly name: string;
  readonly label: string;
}) {
  const groups = Map.groupBy(
    samples.filter((sample) => sample.name === name),
    ({ labels }) => labels[label] ?? '',
  );
  if (groups.size === 0) return null;
  return (
    <Part title={title}>
      <Table w="auto">
        <Table.Tbody>
          {[...groups].map(([group, members]) => (
            <Table.Tr key={group}>
              <Table.Th>{group}</Table.Th>
              <Table.Td>{formatCount(members.reduce((sum, { value }) => sum + value, 0))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Part>
  );
}
