import type { ModelConfig, ProviderRequest } from '@svc/evaluation';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';

/** The body of a chat-completions request. It copies the conversation of a large item without parsing it. */
export function requestBody(
  { model, params }: Pick<ModelConfig, 'model' | 'params'>,
  { messages, messagesJson }: ProviderRequest,
): string | Buffer {
  const members: JsonObject = { ...params, model };
  if (messagesJson === undefined) return canonicalJson({ ...members, messages: [...messages] });
  delete members['messages'];
  return Buffer.concat([
    Buffer.from('{"messages":'),
    messagesJson,
    Buffer.from(`,${canonicalJson(members).slice(1)}`),
  ]);
}
