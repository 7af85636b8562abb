import { parseItem } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { Place } from './lost.ts';
import { elementsOf, memberOf, membersOf, parsePythonJson, textOf } from './read-json.ts';

const ROLES: ReadonlySet<JsonValue> = new Set(['system', 'developer', 'user', 'assistant']);

const KNOWN: ReadonlySet<string> = new Set(['role', 'content', 'id', 'source']);

/** Members of messages besides role and content have no place, and are counted. */
export function withMessages(input: JsonValue, place: Place): JsonObject {
  if (typeof input === 'string') return { prompt: input };
  const messages: JsonObject[] = [];
  for (const message of elementsOf(input)) {
    const role = memberOf(message, 'role');
    if (!isJsonObject(message) || !ROLES.has(role)) {
      place.lost(`message of role ${textOf(role) ?? 'none'}`);
      continue;
    }
    for (const name of Object.keys(message)) {
      if (!KNOWN.has(name) && message[name] !== null) place.lost(`${name} of messages`);
    }
    messages.push({ role, content: memberOf(message, 'content') ?? '' });
  }
  const texts = messages.map(({ content = null }) => textOf(content));
  const roles = messages.map((message) => message['role']).join();
  const [first = null, second = null] = texts;
  if (roles === 'user' && first !== null) return { prompt: first };
  if (roles === 'system,user' && first !== null && second !== null) {
    return { system_prompt: first, prompt: second };
  }
  return { messages };
}

/** The `inputs` of an item for a prompt, which may be messages written as JSON. */
export function promptInputs(asked: string, place: Place): JsonObject {
  if (!/^\s*\[\s*\{/.test(asked)) return { prompt: asked };
  try {
    const messages = parsePythonJson(asked, place.location, MAX_MESSAGE_DEPTH);
    const areMessages = elementsOf(messages).every((one) => textOf(memberOf(one, 'role')) !== null);
    return areMessages ? withMessages(messages, place) : { prompt: asked };
  } catch {
    // A text that only looks like messages.
    return { prompt: asked };
  }
}

const MAX_MESSAGE_DEPTH = 64;

export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return elementsOf(content)
    .map((part) => textOf(memberOf(part, 'text')) ?? textOf(memberOf(part, 'refusal')) ?? '')
    .join('');
}

/** What is asked with an item, as messages of chat completions; its files are parts of the last one. */
export function itemMessages(item: JsonObject): JsonObject[] {
  const inputs = membersOf(memberOf(item, 'inputs'));
  const system = textOf(inputs['system_prompt']);
  const prompt = textOf(inputs['prompt']);
  const messages: JsonObject[] = elementsOf(inputs['messages']).filter(isJsonObject);
  if (system !== null && messages[0]?.['content'] !== system) {
    messages.unshift({ role: 'system', content: system });
  }
  if (prompt !== null && messages.at(-1)?.['content'] !== prompt) {
    messages.push({ role: 'user', content: prompt });
  }
  return messages;
}

export function itemFiles(item: JsonObject): readonly JsonValue[] {
  const assets = memberOf(item, 'assets');
  return Array.isArray(assets) ? assets : Object.values(membersOf(assets));
}

export function itemImages(item: JsonObject, place: Place): readonly string[] {
  const files = itemFiles(item);
  const images: string[] = [];
  for (const entry of files) {
    const type = textOf(memberOf(entry, 'mime_type'));
    if (type === null || !type.startsWith('image/')) continue;
    const data = textOf(memberOf(entry, 'data'));
    const url = textOf(memberOf(entry, 'url'));
    if (data !== null) images.push(`data:${type};base64,${data}`);
    else if (url !== null) images.push(url);
  }
  place.lost('files that are not images', files.length - images.length);
  return images;
}

/** The letter of a choice, as Inspect gives them. @param index from 0 */
export const choiceLetter = (index: number): string =>
  index < 26 ? String.fromCharCode(65 + index) : String(index - 25);

/** The member in which a file for another tool keeps the item that it was made from. */
export const OWN_ITEM = 'svc_item';

/** What was written for a tool comes back as it was. @param row of the tool, or its metadata */
export function ownItem(row: JsonValue, place: Place): JsonObject | null {
  const text = textOf(memberOf(row, OWN_ITEM));
  if (text === null) return null;
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return parseItem(value) as JsonObject;
  } catch {
    // It was changed since.
  }
  place.lost(`${OWN_ITEM} that is not an item`);
  return null;
}
