import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ChatMessage, WireFormat } from '../provider.ts';
import { plainText } from './canonical-text.ts';

/** A conversation in the format of a provider, see `ProviderRequest`. */
export interface Conversation {
  readonly conversationJson: Uint8Array<ArrayBuffer>;
}

export function conversationOf(messages: readonly ChatMessage[], format: WireFormat): Conversation {
  const members =
    format === 'chat_completions' ? { messages: [...messages] } : anthropicConversation(messages);
  return { conversationJson: new TextEncoder().encode(canonicalJson(members)) };
}

/**
 * A conversation as the Messages API takes it: system prompts are not among the messages, images are parts of type
 * `image` with a source, and a message with nothing in it is left out. Parts that are in its own format stay.
 */
function anthropicConversation(messages: readonly ChatMessage[]): JsonObject {
  const system: string[] = [];
  const turns: JsonObject[] = [];
  for (const { role, content } of messages) {
    if (role === 'system' || role === 'developer') system.push(contentText(content));
    else {
      const parts = contentParts(content);
      const isEmpty = typeof parts === 'string' ? parts.trim() === '' : parts.length === 0;
      if (!isEmpty) turns.push({ role: role === 'assistant' ? 'assistant' : 'user', content: parts });
    }
  }
  return { ...(system.length === 0 ? {} : { system: system.join('\n\n') }), messages: turns };
}

function contentText(content: JsonValue): string {
  if (!Array.isArray(content)) return content === null ? '' : plainText(content);
  const texts = content.map((part) => (isJsonObject(part) ? getMember(part, 'text') : part));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

function contentParts(content: JsonValue): string | JsonValue[] {
  if (!Array.isArray(content)) return content === null ? '' : plainText(content);
  return content.filter(isJsonObject).map((part) => (part['type'] === 'image_url' ? imagePart(part) : part));
}

function imagePart(part: JsonObject): JsonObject {
  const image = getMember(part, 'image_url');
  const url = isJsonObject(image) ? getMember(image, 'url') : image;
  if (typeof url !== 'string') return part;
  const comma = url.indexOf(',');
  const head = url.startsWith('data:') && comma > 0 ? url.slice('data:'.length, comma) : undefined;
  const source =
    head?.endsWith(';base64') === true
      ? { type: 'base64', media_type: head.slice(0, -';base64'.length), data: url.slice(comma + 1) }
      : { type: 'url', url };
  return { type: 'image', source };
}
