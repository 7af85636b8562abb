import { MultiSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { nameOf } from '../runs/use-run.ts';
import { Page } from '../ui/layout/page.tsx';
import { formatScore } from '../ui/text/formats.ts';
import { Comparison } from './comparison.tsx';

const route = getRouteApi('/compare');

/** Compares runs with a first one: differences, wins and losses, and the items in which they differ. */
export function ComparePage() {
  const api = useApi();
  const { runs: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const ids = chosen === undefined ? [] : chosen.split(',').slice(0, 10);
  const found = useQuery({
    queryKey: ['runs', { limit: 100 }],
    queryFn: ({ signal }) => dataOf(api.GET('/runs', { params: { query: { limit: 100 } }, signal })),
  });
  const runs = found.data?.data ?? [];
  const first = ids[0];
  return (
    <Page title="Compare" subtitle="The first run is what the others are compared with.">
      <MultiSelect
        label="Runs"
        placeholder={ids.length < 2 ? 'Choose two or more runs' : undefined}
        searchable
        clearable
        value={ids}
        onChange={(values) =>
          void navigate({ search: { runs: values.length === 0 ? undefined : values.join(',') } })
        }
        data={runs.map((run) => ({
          value: run.id,
          label: `${nameOf(run)} ${run.id.slice(0, 4)} (${formatScore(run.scores.mean)})`,
        }))}
      />
      {first === undefined || ids.length < 2 ? (
        <Text size="sm" c="dimmed">
          Runs can be compared when they share items: the same items have the same hash, in any dataset.
        </Text>
      ) : (
        <Stack gap="xl">
          {ids.slice(1).map((other) => (
            <Comparison key={`${first} ${other}`} id={first} other={other} />
          ))}
        </Stack>
      )}
    </Page>
  );
}
