import type { Item } from '@svc/jsonl-v23';
import { assetEntries, mimeTypeForPath } from '@svc/jsonl-v23/internal';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { ChatMessage } from '../provider.ts';
import { RunError } from '../run-error.ts';
import { labelledChoices } from './labelled-choices.ts';

type Part = JsonObject;

/**
 * The conversation of an item, in the chat-completions format:
 * 1. `inputs.system_prompt` as the system message, unless the messages begin with the same text;
 * 2. `inputs.messages` unchanged;
 * 3. `inputs.prompt` as a user message, unless the last message is the same text;
 * 4. in the last user message, after its text: the choices, one per line as `A. text`, then each image of `assets` as
 *    an image part. An embedded image becomes a data: URL; any other keeps its URL, and only the provider fetches it.
 *
 * Assets that are not images are not sent.
 *
 * @throws RunError `item_without_prompt` if the item has no prompt, no messages, no choices and no image
 */
export function buildMessages(item: Item): ChatMessage[] {
  const inputs = asObject(getMember(item, 'inputs'));
  const messages = itemMessages(inputs);

  const prompt = getMember(inputs, 'prompt');
  if (typeof prompt === 'string' && messages.at(-1)?.content !== prompt) {
    messages.push({ role: 'user', content: prompt });
  }

  const choices = labelledChoices(item).choices.map(({ label, text }) => `${label}. ${text}`);
  const images = imageParts(item);
  if (choices.length > 0 || images.length > 0) appendToQuestion(messages, choices.join('\n'), images);
  if (messages.length === 0) {
    throw new RunError('item_without_prompt', 'The item must have `inputs.prompt` or `inputs.messages`.');
  }

  const system = getMember(inputs, 'system_prompt');
  const first = messages[0];
  const hasSystem = first !== undefined && isSystem(first) && first.content === system;
  if (typeof system === 'string' && system !== '' && !hasSystem) {
    messages.unshift({ role: 'system', content: system });
  }
  return messages;
}

function itemMessages(inputs: JsonObject): ChatMessage[] {
  const listed = getMember(inputs, 'messages');
  if (!Array.isArray(listed)) return [];
  const messages: ChatMessage[] = [];
  for (const message of listed) {
    if (!isJsonObject(message)) continue;
    const role = getMember(message, 'role');
    messages.push({
      ...message,
      role: typeof role === 'string' ? role : 'user',
      content: getMember(message, 'content') ?? null,
    });
  }
  return messages;
}

/** Adds choices and images to the last user message, or to a new one if the conversation does not end with one. */
function appendToQuestion(messages: ChatMessage[], choices: string, images: readonly Part[]): void {
  const last = messages.at(-1);
  const isQuestion = last !== undefined && last.role === 'user';
  const content = isQuestion ? last.content : '';
  const parts: Part[] = Array.isArray(content) ? content.filter(isJsonObject) : textParts(content);

  if (choices !== '') {
    const text = parts.at(-1);
    const existing = text !== undefined && text['type'] === 'text' ? text['text'] : undefined;
    if (typeof existing === 'string')
      parts[parts.length - 1] = { ...text, type: 'text', text: `${existing}\n\n${choices}` };
    else parts.push({ type: 'text', text: choices });
  }
  parts.push(...images);

  const only = parts.length === 1 && !Array.isArray(content) ? parts[0]?.['text'] : undefined;
  const question: ChatMessage = {
    ...(isQuestion ? last : {}),
    role: 'user',
    content: typeof only === 'string' ? only : parts,
  };
  if (isQuestion) messages[messages.length - 1] = question;
  else messages.push(question);
}

function textParts(content: unknown): Part[] {
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

function imageParts(item: Item): Part[] {
  const parts: Part[] = [];
  for (const { entry } of assetEntries(item)) {
    const url = imageUrl(entry);
    if (url !== null) parts.push({ type: 'image_url', image_url: { url } });
  }
  return parts;
}

function imageUrl(entry: JsonObject): string | null {
  const url = getMember(entry, 'url');
  const data = getMember(entry, 'data');
  const mimeType = mimeTypeOf(entry, typeof url === 'string' ? url : '');
  if (!mimeType.startsWith('image/')) return null;
  if (typeof data === 'string') return `data:${mimeType};base64,${data}`;
  return typeof url === 'string' && /^https?:\/\//i.test(url) ? url : null;
}

function mimeTypeOf(entry: JsonObject, url: string): string {
  const stated = getMember(entry, 'mime_type');
  if (typeof stated === 'string') return stated.trim().toLowerCase();
  const path = getMember(entry, 'path');
  if (typeof path === 'string') return mimeTypeForPath(path);
  return mimeTypeForPath(url.split(/[?#]/, 1)[0] ?? '');
}

function isSystem(message: ChatMessage): boolean {
  return message.role === 'system' || message.role === 'developer';
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value as JsonObject) ? (value as JsonObject) : {};
}
