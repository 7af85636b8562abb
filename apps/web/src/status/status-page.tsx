import { Anchor, Badge, Group, SimpleGrid, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOf, isRefusal } from '../api/api.ts';
import { type Provider, useProviders } from '../runs/queries.ts';
import { useCan } from '../session/session.tsx';
import { Facts, NameValues } from '../ui/layout/name-values.tsx';
import { Page, Part } from '../ui/layout/page.tsx';
import { QueryState } from '../ui/query-state.tsx';
import { texts } from '../ui/table/cells.tsx';
import { DataTable } from '../ui/table/data-table.tsx';
import type { Column } from '../ui/table/table-model.ts';
import { Dimmed } from '../ui/text/dimmed.ts';
import { formatCount, formatDuration, formatPercent } from '../ui/text/formats.ts';
import { Installation, Limits, statusQuery } from './installation.tsx';

const REFRESH_MS = 5000;

interface Readiness {
  readonly status: string;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

export default function StatusPage() {
  const queries = useQueryClient();
  const status = useQuery(statusQuery);
  const canEdit = useCan('editor');
  const readiness = useQuery({
    queryKey: ['readyz'],
    // a service that is not ready responds with a status, too
    queryFn: async ({ signal }) => (await (await fetch('/readyz', { signal })).json()) as Readiness,
    refetchInterval: REFRESH_MS,
  });
  const metrics = useQuery({
    queryKey: ['metrics'],
    queryFn: async ({ signal }) => {
      const samples = parseMetrics(String(await dataOf(api.GET('/metrics', { parseAs: 'text', signal }))));
      const now = totalsOf(samples, performance.now());
      return { samples, now, before: earlierTotals(queries.getQueryData<Look>(['metrics'])?.now, now) };
    },
    refetchInterval: REFRESH_MS,
  });
  const answer = readiness.error === null ? readiness.data : undefined;
  const checks = answer?.checks ?? {};
  const isReady = answer?.status === 'ok';
  const failures = new Set(Object.values(checks).flatMap(({ detail }) => detail ?? []));
  return (
    <Page
      title="Status"
      actions={
        <>
          <Anchor href="/metrics" size="sm">
            Metrics
          </Anchor>
          <Anchor href="/docs" size="sm">
            API documentation
          </Anchor>
        </>
      }
    >
      <Group gap="xs" role="status">
        <Badge color={isReady ? 'teal' : 'red'} variant="dot">
          {answer === undefined ? 'unknown' : isReady ? 'ready' : 'not ready'}
        </Badge>
        {Object.entries(checks).map(([name, { ok }]) => (
          <Badge key={name} variant="default">
            {name}: {ok ? 'good' : 'failing'}
          </Badge>
        ))}
        {[...failures].map((detail) => (
          <Dimmed key={detail}>{detail}</Dimmed>
        ))}
      </Group>
      <QueryState query={status} />
      {status.data !== undefined && <Installation status={status.data} />}
      {isRefusal(metrics.error, 401) ? (
        <Dimmed>
          The metrics of this service need a key of their own, SVC_METRICS_KEY, which the console does not
          have.
        </Dimmed>
      ) : (
        <QueryState query={metrics} />
      )}
      {metrics.data !== undefined && <StatusNumbers {...metrics.data} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
        {status.data !== undefined && <Limits limits={status.data.limits} />}
        {canEdit && <Providers />}
      </SimpleGrid>
    </Page>
  );
}

function Providers() {
  const found = useProviders();
  return (
    <Part title="Model providers">
      <QueryState query={found} rows={2} />
      {found.data !== undefined && (
        <DataTable
          label="Table of providers"
          columns={COLUMNS}
          rows={found.data.data}
          keyOf={({ name, origins }) => name ?? origins.join(' ')}
          empty={NONE}
        />
      )}
    </Part>
  );
}

const NONE =
  'None is configured: set SVC_PROVIDER_NAME and SVC_PROVIDER_NAME_ORIGINS for the service and its workers. Servers without a key need neither.';

const COLUMNS: readonly Column<Provider>[] = [
  { label: 'Key', cell: ({ name }) => name ?? 'none' },
  texts('Addresses', ({ origins }) => origins.join(', ')),
  texts('Models of earlier runs', ({ models }) => models.slice(0, 20).join(', ') || '–'),
];

interface Look {
  readonly samples: readonly Sample[];
  readonly now: Totals;
  readonly before: Totals;
}

function StatusNumbers({ samples, now, before }: Look) {
  const requests = now.requests - before.requests;
  const elapsedS = (now.atMs - before.atMs) / 1000;
  const [startedAtS] = samples.flatMap(({ name, value }) =>
    name === 'process_start_time_seconds' ? [value] : [],
  );
  const totalOf = (metric: string): string => formatCount(sumOf(samples, metric));
  return (
    <Stack>
      <Facts
        columns={5}
        facts={[
          [
            'Version',
            samples.find(({ name }) => name === 'svc_build_info')?.labels['version'] ?? '–',
            startedAtS === undefined ? '' : `up for ${formatDuration(Date.now() - 1000 * startedAtS)}`,
          ],
          [
            'Requests',
            elapsedS > 0 ? `${(requests / elapsedS).toFixed(1)} per second` : '–',
            `${formatCount(now.requests)} since the start`,
          ],
          [
            'Server errors',
            requests <= 0 ? '–' : formatPercent((now.errors - before.errors) / requests),
            `${formatCount(now.errors)} since the start`,
          ],
          [
            'Mean response',
            requests <= 0 ? '–' : formatDuration((1000 * (now.seconds - before.seconds)) / requests),
            `${totalOf('svc_http_requests_in_progress')} requests in progress`,
          ],
          ['Imported items', totalOf('svc_dataset_import_items_total'), 'since the start'],
          [
            'Requests to models',
            totalOf('svc_provider_requests_total'),
            `${totalOf('svc_provider_tokens_total')} tokens since the start`,
          ],
          ['Requests to the hub', totalOf('svc_hub_requests_total'), 'since the start'],
          ['Results of runs', totalOf('svc_run_items_total'), 'since the start'],
        ]}
      />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        {COUNTS.map(([title, name, label]) => (
          <Part key={title} title={title}>
            {countsOf(samples, name, label)}
          </Part>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

const COUNTS = [
  ['Runs', 'svc_runs_total', 'status'],
  ['Imports', 'svc_dataset_imports_total', 'outcome'],
  ['Requests to models', 'svc_provider_requests_total', 'outcome'],
  ['Responses', 'svc_http_requests_total', 'status_code'],
] as const;

/** A table of the sums of a metric by the values of a label; false without any. */
function countsOf(samples: readonly Sample[], name: string, label: string) {
  const values = new Set(samples.flatMap((one) => (one.name === name ? [one.labels[label] ?? ''] : [])));
  const rows = [...values]
    .sort((a, b) => a.localeCompare(b))
    .map(
      (value) =>
        [value, formatCount(sumOf(samples, name, (labels) => (labels[label] ?? '') === value))] as const,
    );
  return rows.length > 0 && <NameValues w="100%" hasCounts verticalSpacing={3} rows={rows} />;
}

type Totals = ReturnType<typeof totalsOf>;

export function totalsOf(samples: readonly Sample[], atMs: number) {
  return {
    atMs,
    requests: sumOf(samples, 'svc_http_requests_total'),
    errors: sumOf(samples, 'svc_http_requests_total', ({ status_code }) => /^5/.test(status_code ?? '')),
    /** Of all responses. */
    seconds: sumOf(samples, 'svc_http_request_duration_seconds_sum'),
  };
}

/** The totals of the last look; those of this one where there was none, or totals fell: they began again with the process. */
export const earlierTotals = (last: Totals | undefined, now: Totals): Totals =>
  last === undefined || last.requests > now.requests ? now : last;

/** One sample of the Prometheus text format. */
type Sample = ReturnType<typeof parseMetrics>[number];

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? (\S+)/;
const LABEL = /(?<!\w)(\w{1,100})="((?:[^"\\]|\\.)*)"/g;

/** Reads the samples of a page of metrics; comments and lines of another form are skipped. */
export function parseMetrics(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || line.startsWith('#')) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

function sumOf(
  samples: readonly Sample[],
  name: string,
  matches: (labels: Sample['labels']) => boolean = () => true,
): number {
  return samples.reduce((sum, one) => (one.name === name && matches(one.labels) ? sum + one.value : sum), 0);
}
