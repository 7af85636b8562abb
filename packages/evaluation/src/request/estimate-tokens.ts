import { canonicalJson } from '@svc/jsonl-v23/json';
import { wireConversation } from '../item/wire-conversation.ts';
import type { ProviderRequest, WireFormat } from '../provider.ts';

/** Bytes of UTF-8 for each token of most models and languages. */
const BYTES_PER_TOKEN = 4;

/** A rough number of input tokens of a request: its bytes by four. Files count as nothing: their models differ too much. */
export function estimateInputTokens(
  { messages, conversationJson }: Pick<ProviderRequest, 'messages' | 'conversationJson'>,
  format: WireFormat,
): number {
  const bytes =
    conversationJson?.byteLength ?? Buffer.byteLength(canonicalJson(wireConversation(messages, format)));
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
