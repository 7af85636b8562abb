import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ChatMessage } from '../ports.ts';
import { RunError } from '../run-error.ts';

/** The text of a conversation's last message: what the `echo` provider answers. */
export function lastMessageText(messages: readonly ChatMessage[]): string {
  const content: JsonValue = messages.at(-1)?.content ?? null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part) => (isJsonObject(part) ? part['text'] : undefined));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

/** The error of an item that has nothing at a JSON Pointer. */
export function fieldMissing(pointer: string): RunError {
  return new RunError('field_missing', `The item has nothing at ${JSON.stringify(pointer)}`);
}
