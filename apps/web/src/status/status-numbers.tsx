import { SimpleGrid, Stack } from '@mantine/core';
import { Facts, NameValues } from '../ui/layout/name-values.tsx';
import { Part } from '../ui/layout/part.tsx';
import { formatCount, formatDuration, formatPercent } from '../ui/text/formats.ts';
import { type Sample, sumOf, type Totals, totalsOf } from './rates.ts';

/** What the metrics of a process say: rates since the last look, and totals since its start. */
export function StatusNumbers({
  samples,
  looks,
}: {
  readonly samples: readonly Sample[];
  /** Up to this one. */
  readonly looks: readonly Totals[];
}) {
  const now = looks.at(-1) ?? totalsOf(samples, 0);
  const before = looks.at(-2) ?? null;
  const requests = before === null ? 0 : now.requests - before.requests;
  const elapsedS = before === null ? 0 : (now.atMs - before.atMs) / 1000;
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
            before === null || requests <= 0 ? '–' : formatPercent((now.errors - before.errors) / requests),
            `${formatCount(now.errors)} since the start`,
          ],
          [
            'Mean response',
            before === null || requests <= 0
              ? '–'
              : formatDuration((1000 * (now.seconds - before.seconds)) / requests),
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
        <Counts title="Runs" samples={samples} name="svc_runs_total" label="status" />
        <Counts title="Imports" samples={samples} name="svc_dataset_imports_total" label="outcome" />
        <Counts
          title="Requests to models"
          samples={samples}
          name="svc_provider_requests_total"
          label="outcome"
        />
        <Counts title="Responses" samples={samples} name="svc_http_requests_total" label="status_code" />
      </SimpleGrid>
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
      <NameValues
        w="100%"
        hasCounts
        verticalSpacing={3}
        rows={[...groups]
          .sort(([a], [b]) => a.localeCompare(b))
          .map(([group, members]) => [
            group,
            formatCount(members.reduce((sum, { value }) => sum + value, 0)),
          ])}
      />
    </Part>
  );
}
