import { Group, Stack } from '@mantine/core';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { fetchOk, get, isRefusal } from '../../../api/api.ts';
import { messagesOf, without } from '../../../datasets/items/item-reading.ts';
import { Members, Messages } from '../../../datasets/items/messages.tsx';
import { Folded, Part } from '../../../ui/layout/page.tsx';
import { ErrorView } from '../../../ui/query-state.tsx';
import { CopyAction } from '../../../ui/text/copy-action.tsx';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import { Value } from '../../../ui/text/rich-text.tsx';
import { askedBy, type Run } from '../../queries.ts';
import type { ListedResult } from '../listed-result.tsx';

/** What the model was asked for a result, as it was sent. Nothing for a run that asks no model. */
export function SentRequest(props: {
  readonly run: Run;
  readonly result: Pick<ListedResult, 'section' | 'order_index' | 'repetition'>;
}) {
  const { run } = props;
  const { section, order_index, repetition } = props.result;
  const provider = askedBy(run);
  const found = useQuery({
    queryKey: ['request', run.id, section, order_index, repetition],
    queryFn: async ({ signal }) => {
      const path = { id: run.id, section, order_index: String(order_index), repetition: String(repetition) };
      const asked = get('/runs/{id}/results/{section}/{order_index}/{repetition}/request', { path }, signal);
      return await asked.catch((error: unknown) => {
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
    <Folded title="As it was sent" of={body}>
      {() => (
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
          <Folded title="Parameters" of={body}>
            {() => <Members value={without(body, ['messages', 'system'])} />}
          </Folded>
        </Stack>
      )}
    </Folded>
  );
}

/** A request to a model, as it was sent but for the key. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its body, byte for byte. */
  readonly body: string;
}

/** Shells refuse longer arguments; on Linux the limit is 128 KiB. */
const MAX_ARGUMENT = 100_000;

/** A command for a shell that sends a request again. It takes the key from the variable that the run names. */
export function curlOf(
  { url, headers, body }: SentRequest,
  { type, auth, api_key_env }: ReturnType<typeof askedBy>,
): string {
  const name =
    type === 'anthropic' ? 'x-api-key:' : auth === 'api-key' ? 'api-key:' : 'Authorization: Bearer';
  const key = api_key_env == null ? [] : [`"${name} $${api_key_env}"`];
  const stated = Object.entries(headers).map(([name, value]) => quoted(`${name}: ${value}`));
  const lines = [`curl ${quoted(url)}`, ...[...stated, ...key].map((header) => `  -H ${header}`)];
  return body.length <= MAX_ARGUMENT
    ? [...lines, `  --data-raw ${quoted(body)}`].join(' \\\n')
    : `${[...lines, "  --data-binary @- <<'END'"].join(' \\\n')}\n${body}\nEND`;
}

/** A text as one argument of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const BODY = ',"body":';

/** Reads what the service says of a request, with its body as text: parsed and written again, it would be other bytes. */
export function readSentRequest(text: string): SentRequest {
  // quotes inside texts are escaped, so that this is the member
  const at = text.indexOf(BODY);
  if (at === -1) throw new SyntaxError('The request has no body.');
  const { url, headers } = JSON.parse(`${text.slice(0, at)}}`) as SentRequest;
  return { url, headers, body: text.slice(at + BODY.length).replace(/\}\s*$/, '') };
}
