import { Badge, Box, Card, Group, Stack, Title } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatDuration, formatScore } from '../../ui/text/formats.ts';
import { JsonText } from '../../ui/text/json-text.tsx';
import { plainText, textOrJson } from '../../ui/text/pretty-json.ts';
import { RichText } from '../../ui/text/rich-text.tsx';
import { FailureView } from '../results/pane/failure-view.tsx';
import type { NewRunBody } from './run-form.ts';

type Tried = ResponseOf<'/runs/try', 'post'>['data'];

/** Items of a trial. */
export const TRIAL_ITEMS = 3;

/** Asks the model some items; nothing is stored. */
export function useTrial(): UseMutationResult<Tried, Error, NewRunBody> {
  const api = useApi();
  return useMutation({
    mutationFn: async (body: NewRunBody) =>
      (
        await dataOf(
          api.POST('/runs/try', {
            params: { query: { items: TRIAL_ITEMS } },
            body,
            bodySerializer: canonicalJson,
          }),
        )
      ).data,
  });
}

/** What was asked and what came back, item by item. */
export function TrialView({ tried }: { readonly tried: Tried }) {
  return (
    <Stack component="section" aria-label="Trial" gap="sm">
      <Title order={2} size="h5">
        Trial: nothing is stored
      </Title>
      {tried.map((one) => (
        <TriedItem key={`${one.section} ${one.order_index}`} tried={one} />
      ))}
    </Stack>
  );
}

function TriedItem({ tried }: { readonly tried: Tried[number] }) {
  const { item_id, section, order_index, request, output, error, latency_ms, scores } = tried;
  const name = plainText(item_id as JsonValue) || `${section} ${order_index}`;
  return (
    <Card withBorder padding="sm">
      <Group gap="xs" mb={4}>
        <Title order={3} size="h6" dir="auto" className="break">
          {name}
        </Title>
        {Object.entries(scores).map(([scorer, { score, passed, explanation }]) => (
          <Badge
            key={scorer}
            size="sm"
            variant="dot"
            color={passed === null ? 'gray' : passed ? 'teal' : 'red'}
            title={explanation ?? ''}
          >
            {scorer === 'main' ? '' : `${scorer}: `}
            {formatScore(score)} {passed === null ? '' : passed ? 'right' : 'wrong'}
          </Badge>
        ))}
        {latency_ms !== null && <Dimmed size="xs">{formatDuration(latency_ms)}</Dimmed>}
      </Group>
      {error !== null && <FailureView failure={error as object} what="result" />}
      {output !== null && output !== undefined && <RichText text={textOrJson(output as JsonValue)} />}
      {request !== null && (
        <Box component="details" mt={4}>
          <summary>Request</summary>
          <JsonText value={request as JsonValue} label="the request" />
        </Box>
      )}
    </Card>
  );
}
