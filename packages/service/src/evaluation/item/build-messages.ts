import type { Item, ItemParts } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { labelledChoices } from '@svc/jsonl-v23/mapping';
import { assetParts } from '../assets/asset-parts.ts';
import type { ChatMessage, WireFormat } from '../provider.ts';
import { RunError } from '../run-error.ts';
import {
  type FilledTemplate,
  fillTemplate,
  placesChoices,
  type RunPrompts,
  templateText,
} from './prompt-template.ts';

interface ItemPrompts {
  readonly system: string | null;
  readonly template: FilledTemplate | null;
}

/**
 * Fills the prompts of a run in for an item.
 *
 * @throws RunError `field_missing` if the item lacks a value of the template; `item_too_large`
 */
export function promptsFor(parts: ItemParts, { system, template }: RunPrompts): ItemPrompts {
  return { system, template: template === null ? null : fillTemplate(template, parts) };
}

/**
 * The conversation of an item, in the chat-completions format:
 * 1. `inputs.system_prompt` as the system message, unless the messages begin with the same text;
 * 2. `inputs.messages` unchanged;
 * 3. `inputs.prompt` as a user message, unless the last message is the same text;
 * 4. in the last user message, after its text: the choices, one per line as `A. text`, then the parts of
 *    {@link assetParts}, which are in the format of the provider.
 *
 * A system prompt of the run replaces the system prompts of 1 and 2. A template of the run makes the text of 3, or of the
 * last user message if there is no prompt; it may place the choices.
 *
 * @throws RunError `item_without_prompt` if the item has no prompt, no messages, no choices and no asset that is sent;
 * `field_missing`, `item_too_large` for a template
 */
export function buildMessages(
  item: Item,
  prompts: ItemPrompts = NO_PROMPTS,
  format: WireFormat = 'chat_completions',
): ChatMessage[] {
  const stated = getMember(item, 'inputs');
  const inputs = isJsonObject(stated) ? stated : {};
  const messages = itemMessages(inputs).filter((message) => prompts.system === null || !isSystem(message));
  const lines = labelledChoices(item).choices.map(({ label, text }) => `${label}. ${text}`);
  const choices = lines.length === 0 ? undefined : lines.join('\n');
  const { template } = prompts;

  const prompt = getMember(inputs, 'prompt');
  if (typeof prompt === 'string' && messages.at(-1)?.content !== prompt) {
    messages.push({ role: 'user', content: prompt });
  }
  if (template !== null) {
    changeQuestion(messages, (content) => {
      const asked = content === undefined ? undefined : textIn(content);
      const text = templateText(template, { prompt: asked, choices });
      const others = Array.isArray(content)
        ? content.filter((part) => isJsonObject(part) && part['type'] !== 'text')
        : [];
      return others.length === 0 ? text : [{ type: 'text', text }, ...others];
    });
  }

  const rest = template !== null && placesChoices(template) ? undefined : choices;
  const { parts } = assetParts(item, format);
  if (rest !== undefined || parts.length > 0) {
    changeQuestion(messages, (content = '') => withParts(content, rest ?? '', parts));
  }
  if (messages.length === 0) {
    throw new RunError('item_without_prompt', 'The item must have `inputs.prompt` or `inputs.messages`.');
  }

  const system = prompts.system ?? getMember(inputs, 'system_prompt');
  const first = messages[0];
  const hasSystem = first !== undefined && isSystem(first) && first.content === system;
  if (typeof system === 'string' && system !== '' && !hasSystem) {
    messages.unshift({ role: 'system', content: system });
  }
  return messages;
}

const NO_PROMPTS: ItemPrompts = { system: null, template: null };

/** Changes the content of the last user message, or makes that of a new one if the conversation does not end with one. */
function changeQuestion(
  messages: ChatMessage[],
  change: (content: JsonValue | undefined) => JsonValue,
): void {
  const last = messages.at(-1);
  if (last?.role === 'user') messages[messages.length - 1] = { ...last, content: change(last.content) };
  else messages.push({ role: 'user', content: change(undefined) });
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

function withParts(content: JsonValue, choices: string, assets: readonly JsonObject[]): JsonValue {
  const text = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  const parts: JsonObject[] = Array.isArray(content) ? content.filter(isJsonObject) : text;
  if (choices !== '') {
    const last = parts.at(-1);
    const existing = last !== undefined && last['type'] === 'text' ? last['text'] : undefined;
    if (typeof existing === 'string')
      parts[parts.length - 1] = { ...last, type: 'text', text: `${existing}\n\n${choices}` };
    else parts.push({ type: 'text', text: choices });
  }
  parts.push(...assets);
  const only = parts.length === 1 && !Array.isArray(content) ? parts[0]?.['text'] : undefined;
  return typeof only === 'string' ? only : parts;
}

function isSystem(message: ChatMessage): boolean {
  return message.role === 'system' || message.role === 'developer';
}

/** The text of the last message of a conversation, which is the output of the `echo` provider. */
export const lastMessageText = (messages: readonly ChatMessage[]): string =>
  textIn(messages.at(-1)?.content ?? null);

function textIn(content: JsonValue): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part) => (isJsonObject(part) ? part['text'] : undefined));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

export function fieldMissing(pointer: string): RunError {
  return new RunError('field_missing', `The item has no value at ${JSON.stringify(pointer)}.`);
}
