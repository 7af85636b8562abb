import { Alert, Card, List, Stack, Title } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useRead } from '../../api/use-read.ts';
import { NameValues } from '../../ui/layout/name-values.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCost, formatCount, formatDuration } from '../../ui/text/formats.ts';
import { nameOf } from '../use-run.ts';
import type { Measured } from './provider/suggestions-of.ts';
import type { NewRunBody } from './run-form.ts';

type Planned = ResponseOf<'/runs/plan', 'post'>;

/** What a run will do, or why it cannot start. Nothing is started. */
export function usePlan(request: NewRunBody | null): UseQueryResult<Planned> {
  return useRead({
    // as text, which has every digit
    queryKey: ['plan', request === null ? null : canonicalJson(request)],
    read: (api, signal) =>
      api.POST('/runs/plan', {
        body: request ?? { dataset_id: '', config: { provider: { type: 'echo' } } },
        bodySerializer: canonicalJson,
        signal,
      }),
    enabled: request !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** A plan: items, requests, what can be scored, an estimate, and warnings. */
export function PlanView({
  planned: { plan, warnings },
  measured,
  runs,
}: {
  readonly planned: Planned;
  readonly measured: Measured | null;
  /** How many start; the plan is that of one of them. */
  readonly runs: number;
}) {
  return (
    <Card withBorder padding="md" aria-live="polite">
      <Stack gap="xs">
        <Title order={2} size="h5">
          {runs === 1 ? 'Plan' : `Plan of each of ${runs} runs`}
        </Title>
        <NameValues
          rows={[
            ['Items', formatCount(plan.items)],
            ['Requests', formatCount(plan.requests)],
            ...(runs === 1 ? [] : [['Requests of all runs', formatCount(runs * plan.requests)] as const]),
            ['Can be scored', formatCount(plan.scorable)],
            ['Cannot be scored', formatCount(plan.unscorable)],
            ...(plan.reused > 0 ? [['Outputs of an earlier run', formatCount(plan.reused)] as const] : []),
            ...estimateRows(plan.estimate),
            ...(measured === null
              ? []
              : [['Time, about', formatDuration(measured.msOf(plan.requests))] as const]),
          ]}
        />
        {measured !== null && (
          <Dimmed size="xs">The time is by {nameOf(measured.run)}, without judges.</Dimmed>
        )}
        {Object.entries(plan.unscorable_reasons).map(([reason, count]) => (
          <Dimmed key={reason}>
            {formatCount(count)}: {reason}
          </Dimmed>
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

/** What the requests to the model may take, as far as it is known before. */
function estimateRows(estimate: Planned['plan']['estimate']): readonly (readonly [string, string])[] {
  if (estimate === null) return [];
  const { input_tokens, output_tokens, cost } = estimate;
  return [
    [
      'Tokens, about',
      output_tokens === null
        ? `${formatCount(input_tokens)} and the output`
        : formatCount(input_tokens + output_tokens),
    ],
    ...(cost === null ? [] : [['Cost, about', formatCost(cost)] as const]),
  ];
}
