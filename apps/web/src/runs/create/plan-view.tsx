import { Alert, List, Stack, Text } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { send } from '../../api/send.ts';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCost, formatCount, formatCountOf, formatDuration } from '../../ui/text/formats.ts';
import { nameOf } from '../queries.ts';
import type { Measured } from './provider/suggestions-of.ts';
import type { NewRunBody } from './run-form.ts';

type Planned = ResponseOf<'/runs/plan', 'post'>;

/** What a run will do, or why it cannot start. Nothing is started. */
export function usePlan(request: NewRunBody | null): UseQueryResult<Planned> {
  return useQuery({
    // as text, which has every digit
    queryKey: ['plan', request === null ? null : canonicalJson(request)],
    queryFn: ({ signal }) =>
      send(
        'post',
        '/runs/plan',
        {},
        request ?? { dataset_id: '', config: { provider: { type: 'echo' } } },
        signal,
      ),
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
  /** How many runs start; the plan is for one of them. */
  readonly runs: number;
}) {
  const { items, requests, scorable, unscorable, reused, estimate } = plan;
  const facts = [
    formatCountOf(items, 'item'),
    formatCountOf(requests, 'request'),
    ...(runs === 1 ? [] : [`${formatCount(runs * requests)} of all ${runs} runs`]),
    `${formatCount(scorable)} can be scored`,
    ...(unscorable === 0 ? [] : [`${formatCount(unscorable)} cannot`]),
    ...(reused === 0 ? [] : [`${formatCountOf(reused, 'output')} of an earlier run`]),
    ...estimated(estimate),
    ...(measured === null
      ? []
      : [`about ${formatDuration(measured.msOf(requests))}, by ${nameOf(measured.run)}`]),
  ];
  return (
    <Stack gap={4} aria-live="polite" component="section" aria-label="Plan">
      <Text size="sm" className="break">
        {facts.join(' · ')}
      </Text>
      {Object.entries(plan.unscorable_reasons).map(([reason, count]) => (
        <Dimmed key={reason} size="xs">
          {formatCount(count)}: {reason}
        </Dimmed>
      ))}
      {warnings.length > 0 && (
        <Alert color="yellow" variant="light" title="Before you start" p="xs">
          <List size="sm">
            {warnings.map(({ code, message }) => (
              <List.Item key={`${code} ${message}`}>{message}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}

/** What the requests to the model may take, as far as it is known before. */
function estimated(estimate: Planned['plan']['estimate']): readonly string[] {
  if (estimate === null) return [];
  const { input_tokens, output_tokens, cost } = estimate;
  return [
    output_tokens === null
      ? `about ${formatCount(input_tokens)} tokens and the output`
      : `about ${formatCount(input_tokens + output_tokens)} tokens`,
    ...(cost === null ? [] : [`about ${formatCost(cost)}`]),
  ];
}
