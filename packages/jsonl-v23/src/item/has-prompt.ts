import { getMember, isJsonObject, type JsonObject } from '../json/json-value.ts';

/** Whether an item has something to ask a model: a prompt that is not blank, or messages. */
export function hasPrompt(item: JsonObject): boolean {
  const inputs = getMember(item, 'inputs');
  if (!isJsonObject(inputs)) return false;
  const [prompt, messages] = [getMember(inputs, 'prompt'), getMember(inputs, 'messages')];
  return (
    (typeof prompt === 'string' && /\S/.test(prompt)) || (Array.isArray(messages) && messages.length > 0)
  );
}
