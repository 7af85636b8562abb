import { Group, Stack, Text } from '@mantine/core';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/api.ts';
import { dataOf, fetchOk, isRefusal } from '../../../api/api-problem.ts';
import { messagesOf, without } from '../../../datasets/items/item-reading.ts';
import { Members } from '../../../datasets/items/members.tsx';
import { Messages } from '../../../datasets/items/messages.tsx';
import { ErrorView } from '../../../ui/error-view.tsx';
import { Part } from '../../../ui/layout/part.tsx';
import { CopyAction } from '../../../ui/text/copy-action.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import { Value } from '../../../ui/text/rich-text.tsx';
import type { Run } from '../../queries.ts';
import type { ListedResult } from '../listed-result.ts';
import { type Asked, curlOf, readSentRequest } from './curl-of.ts';

/** What the model was asked for a result, as it was sent. Nothing for a run that asks no model. */
export function SentRequest({
  run,
  result: { section, order_index, repetition },
}: {
  readonly run: Run;
  readonly result: Pick<ListedResult, 'section' | 'order_index' | 'repetition'>;
}) {
  const { provider = {} } = run.config as { readonly provider?: Asked };
  const found = useQuery({
    queryKey: ['request', run.id, section, order_index, repetition],
    queryFn: async ({ signal }) => {
      const path = { id: run.id, section, order_index: String(order_index), repetition: String(repetition) };
      const asked = api.GET('/runs/{id}/results/{section}/{order_index}/{repetition}/request', {
        params: { path },
        signal,
      });
      return await dataOf(asked).catch((error: unknown) => {
        if (isRefusal(error, 404)) return null;
        throw error;
      });
    },
    enabled: provider.type === 'openai_compatible' || provider.type === 'anthropic',
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (found.error !== null) return <ErrorView error={found.error} />;
  if (found.data == null) return null;
  const { url } = found.data;
  const body = found.data.body as JsonObject;
  const system = getMember(body, 'system');
  const copy = async (): Promise<string> => {
    const place = `${encodeURIComponent(section)}/${order_index}/${repetition}`;
    const whole = await fetchOk(`/runs/${run.id}/results/${place}/request?assets=embed`);
    return curlOf(readSentRequest(await whole.text()), provider);
  };
  return (
    <details>
      <summary>
        <Text span size="sm">
          As it was sent
        </Text>
      </summary>
      <Stack gap="xs">
        <Group gap={4} wrap="nowrap">
          <Dimmed size="xs" className="break">
            POST {url}
          </Dimmed>
          <CopyAction text={copy} label="Copy as curl" />
        </Group>
        {system !== undefined && (
          <div className="message" data-role="system">
            <Part order={3} title="system">
              <Value value={system as JsonValue} />
            </Part>
          </div>
        )}
        <Messages messages={messagesOf({ inputs: body }) ?? []} />
        <details>
          <summary>
            <Text span size="sm">
              Parameters
            </Text>
          </summary>
          <Members value={without(body, ['messages', 'system'])} />
        </details>
      </Stack>
    </details>
  );
}
