import type { ResponseOf } from '@svc/client';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { formatFacts, printableValue } from '../../text/format.ts';

type Tried = ResponseOf<'/runs/try', 'post'>;

/** Requests and outputs of a tried run, for people. */
export function triedText({ data }: Tried): string {
  return data.map(itemText).join('\n');
}

function itemText({
  section,
  order_index,
  item_id,
  request,
  output,
  error,
  scores,
}: Tried['data'][number]): string {
  const failure = error as { readonly code?: unknown; readonly message?: unknown } | null;
  return formatFacts([
    [
      'item',
      `${printableValue(section)} ${order_index}${item_id === null ? '' : ` (${printableValue(String(item_id))})`}`,
    ],
    ['request', request === null ? null : jsonText(request)],
    ['output', output == null ? null : typeof output === 'string' ? output : jsonText(output)],
    ['error', failure === null ? null : `${failure.message} (${failure.code})`],
    ...Object.entries(scores).map(([name, { score, passed }]): [string, string] => [
      name === 'main' ? 'score' : `score ${name}`,
      `${score ?? 'none'}${passed === true ? ', passed' : ''}`,
    ]),
  ]);
}

const jsonText = (value: unknown): string => canonicalJson(value as JsonValue);
