import type { Item } from '@svc/jsonl-v23';
import type { ItemParts } from '@svc/jsonl-v23/internal';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { assetParts } from '../assets/asset-parts.ts';
import type { ChatMessage, WireFormat } from '../provider.ts';
import { RunError } from '../run-error.ts';
import { labelledChoices } from './labelled-choices.ts';
import {
  type FilledTemplate,
  fillTemplate,
  placesChoices,
  type RunPrompts,
  templateText,
} from './prompt-template.ts';

type Part = JsonObject;

/** Prompts of a run, filled in for one item. */
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
  const inputs = asObject(getMember(item, 'inputs'));
  const messages = itemMessages(inputs).filter((message) => prompts.system === null || !isSystem(message));
  const lines = labelledChoices(item).choices.map(({ label, text }) => `${label}. ${text}`);
  const choices = lines.length === 0 ? undefined : lines.join('\n');
  const { template } = prompts;

  const prompt = getMember(inputs, 'prompt');
  if (typeof prompt === 'string' && messages.at(-1)?.content !== prompt) {
    messages.push({ role: 'user', content: prompt });
  }
  if (template !== null) fillQuestion(messages, template, choices);

  const rest = template !== null && placesChoices(template) ? undefined : choices;
  const { parts } = assetParts(item, format);
  if (rest !== undefined || parts.length > 0) appendToQuestion(messages, rest ?? '', parts);
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

/** Replaces the text of the last user message by the template's text, or adds that as a user message. */
function fillQuestion(messages: ChatMessage[], template: FilledTemplate, choices: string | undefined): void {
  const last = messages.at(-1);
  const question = last !== undefined && last.role === 'user' ? last : undefined;
  const prompt = question === undefined ? undefined : lastMessageText([question]);
  const text = templateText(template, { prompt, choices });
  const others = Array.isArray(question?.content)
    ? question.content.filter((part) => isJsonObject(part) && part['type'] !== 'text')
    : [];
  const content = others.length === 0 ? text : [{ type: 'text', text }, ...others];
  if (question === undefined) messages.push({ role: 'user', content });
  else messages[messages.length - 1] = { ...question, content };
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

/** Adds choices and assets to the last user message, or to a new one if the conversation does not end with one. */
function appendToQuestion(messages: ChatMessage[], choices: string, assets: readonly Part[]): void {
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
  parts.push(...assets);

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

function isSystem(message: ChatMessage): boolean {
  return message.role === 'system' || message.role === 'developer';
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value as JsonObject) ? (value as JsonObject) : {};
}

/** The text of the last message of a conversation, which is the output of the `echo` provider. */
export function lastMessageText(messages: readonly ChatMessage[]): string {
  const content: JsonValue = messages.at(-1)?.content ?? null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part) => (isJsonObject(part) ? part['text'] : undefined));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

/** The error of an item that has no value at a JSON Pointer. */
export function fieldMissing(pointer: string): RunError {
  return new RunError('field_missing', `The item has no value at ${JSON.stringify(pointer)}.`);
}
