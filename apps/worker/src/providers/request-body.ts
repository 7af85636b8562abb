import { type ModelConfig, type ProviderRequest, type WireFormat, wireConversation } from '@svc/evaluation';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';

/** The Messages API wants a limit; without one in `params`, this is it. */
const DEFAULT_ANTHROPIC_TOKENS = 4096;

/** The body of a request to a model. It copies the conversation of a large item without parsing it. */
export function requestBody(
  { model, params }: Pick<ModelConfig, 'model' | 'params'>,
  { messages, conversationJson }: ProviderRequest,
  format: WireFormat,
): string | Buffer {
  const limit = format === 'anthropic_messages' ? { max_tokens: DEFAULT_ANTHROPIC_TOKENS } : {};
  const members: JsonObject = { ...limit, ...params, model };
  if (conversationJson === undefined) {
    return canonicalJson({ ...members, ...wireConversation(messages, format) });
  }
  delete members['messages'];
  // two objects as one: the first without its closing brace, the second without its opening one
  return Buffer.concat([
    conversationJson.subarray(0, -1),
    Buffer.from(`,${canonicalJson(members).slice(1)}`),
  ]);
}
