import { Alert, Card, List, Skeleton, Stack, Text, Title } from '@mantine/core';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { NameValues } from '../../ui/layout/name-values.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import type { NewRunBody } from './run-form.ts';

/** What a run will do: items, requests, what can be scored, and warnings. Nothing is started. */
export function PlanView({ request }: { readonly request: NewRunBody | null }) {
  const api = useApi();
  const planned = useQuery({
    // as text, which has every digit
    queryKey: ['plan', request === null ? null : canonicalJson(request)],
    queryFn: async ({ signal }) =>
      await dataOf(
        api.POST('/runs/plan', {
          body: request ?? { dataset_id: '', config: { provider: { type: 'echo' } } },
          bodySerializer: canonicalJson,
          signal,
        }),
      ),
    enabled: request !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (request === null)
    return (
      <Text size="sm" c="dimmed">
        The plan appears here when the dataset and the provider are chosen.
      </Text>
    );
  if (planned.error !== null) return <ErrorView error={planned.error} />;
  if (planned.data === undefined) return <Skeleton height={160} />;
  const { plan, warnings } = planned.data;
  return (
    <Card withBorder padding="md" aria-live="polite">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Plan
        </Title>
        <NameValues
          rows={[
            ['Items', formatCount(plan.items)],
            ['Requests', formatCount(plan.requests)],
            ['Can be scored', formatCount(plan.scorable)],
            ['Cannot be scored', formatCount(plan.unscorable)],
          ]}
        />
        {Object.entries(plan.unscorable_reasons).map(([reason, count]) => (
          <Text key={reason} size="sm" c="dimmed">
            {formatCount(count)}: {reason}
          </Text>
        ))}
        {warnings.length > 0 && (
          <Alert color="yellow" variant="light" title="Before you start">
            <List size="sm">
              {warnings.map(({ code, message }) => (
                <List.Item key={`${code} ${message}`}>{message}</List.Item>
              ))}
            </List>
          </Alert>
        )}
      </Stack>
    </Card>
  );
}
