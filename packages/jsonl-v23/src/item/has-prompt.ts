import { getMember, isJsonObject, type JsonObject } from '../json/json-value.ts';

/** Whether an item has a prompt or messages. */
export function hasPrompt(item: JsonObject): boolean {
  const inputs = getMember(item, 'inputs');
  if (!isJsonObject(inputs)) return false;
  const messages = getMember(inputs, 'messages');
  return typeof getMember(inputs, 'prompt') === 'string' || (Array.isArray(messages) && messages.length > 0);
}
