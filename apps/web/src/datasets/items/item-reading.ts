import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from '../../ui/text/pretty-json.ts';

/** A message of a conversation. */
export interface Message {
  readonly role: string;
  readonly content: JsonValue;
}

const inputsOf = (item: JsonObject): JsonObject => {
  const inputs = getMember(item, 'inputs');
  return isJsonObject(inputs) ? inputs : {};
};

/** A member of the item's inputs. */
export const inputOf = (item: JsonObject, name: string): JsonValue | undefined =>
  getMember(inputsOf(item), name);

/** The conversation of an item; undefined where it has a prompt instead. */
export function messagesOf(item: JsonObject): readonly Message[] | undefined {
  const messages = inputOf(item, 'messages');
  if (!Array.isArray(messages)) return undefined;
  return messages.filter(isJsonObject).map((message) => ({
    role: plainText(getMember(message, 'role'), 40),
    content: getMember(message, 'content') ?? null,
  }));
}

/** The beginning of what an item asks, for a list. */
export function questionOf(item: JsonObject): string {
  const prompt = inputOf(item, 'prompt');
  if (prompt !== undefined && prompt !== null) return plainText(prompt);
  const last = messagesOf(item)?.findLast(({ role }) => role === 'user');
  return plainText(last?.content ?? getMember(item, 'inputs') ?? item);
}

/** The options of a multiple-choice item, each with whether it is the right one. */
export function choicesOf(item: JsonObject): readonly { text: string; label: string; isRight: boolean }[] {
  const choices = inputOf(item, 'choices');
  if (!Array.isArray(choices)) return [];
  const answer = plainText(getMember(item, 'answer'), 10_000);
  return choices.map((choice, index) => {
    const letter = String.fromCharCode(65 + (index % 26));
    const text = isJsonObject(choice) ? getMember(choice, 'text') : choice;
    const stated = isJsonObject(choice) ? getMember(choice, 'label') : undefined;
    const label = stated === undefined ? letter : plainText(stated, 40);
    const shown = plainText(text, 10_000);
    return { text: shown, label, isRight: answer !== '' && (answer === shown || answer === label) };
  });
}

/** An asset of an item with its name, whether the item names its assets or lists them. */
export function assetsOf(item: JsonObject): readonly { name: string; entry: JsonObject }[] {
  const assets = getMember(item, 'assets');
  const named: readonly (readonly [string, JsonValue])[] = Array.isArray(assets)
    ? assets.map((entry, index) => [String(index + 1), entry] as const)
    : isJsonObject(assets)
      ? Object.entries(assets)
      : [];
  return named.flatMap(([name, entry]) =>
    isJsonObject(entry)
      ? [{ name, entry }]
      : typeof entry === 'string'
        ? [{ name, entry: { url: entry } }]
        : [],
  );
}

/** The labels of an item. */
export function tagsOf(item: JsonObject): readonly string[] {
  const tags = getMember(item, 'tags');
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}
