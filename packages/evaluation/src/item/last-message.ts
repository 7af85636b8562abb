import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ChatMessage } from '../provider.ts';
import { RunError } from '../run-error.ts';

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
