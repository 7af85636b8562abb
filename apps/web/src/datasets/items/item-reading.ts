import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { choiceContent, choiceLabel, readChoices } from '@svc/jsonl-v23/mapping';
import { objectIn, textIn } from '../../ui/pointer-of.ts';
import { formatCountOf, plainText, textOrJson } from '../../ui/text/formats.ts';

export type ToolCall = ReturnType<typeof callOf>;

export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly url: string; readonly type: string }
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'other'; readonly value: JsonValue };

/** A message of a conversation. Nothing of it is left out: `rest` has what the other members do not. */
export type Message = ReturnType<typeof messageOf>;

export const inputOf = (item: JsonObject, name: string): JsonValue | undefined =>
  getMember(objectIn(item, 'inputs'), name);

export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** The members of the inputs that the viewer does not show by name, or not in the form that they have. */
export function otherInputsOf(item: JsonObject): JsonObject {
  const shown: Readonly<Record<string, (value: JsonValue) => boolean>> = {
    prompt: () => true,
    system_prompt: (value) => typeof value === 'string',
    messages: Array.isArray,
    choices: () => choicesOf(item).length > 0,
    tools: Array.isArray,
  };
  return Object.fromEntries(
    Object.entries(objectIn(item, 'inputs')).filter(
      ([name, value]) => !(Object.hasOwn(shown, name) && (value === null || shown[name]?.(value) === true)),
    ),
  );
}

/** The conversation of an item; undefined if it has a prompt instead. */
export function messagesOf(item: JsonObject): readonly Message[] | undefined {
  const messages = inputOf(item, 'messages');
  return Array.isArray(messages) ? messages.map(messageOf) : undefined;
}

const SHOWN = ['role', 'content', 'tool_calls', 'tool_call_id'];

function messageOf(stated: JsonValue) {
  const message = isJsonObject(stated) ? stated : {};
  const parts: readonly MessagePart[] =
    message === stated ? partsOf(getMember(message, 'content')) : [{ kind: 'other', value: stated }];
  const calls = getMember(message, 'tool_calls');
  const resultOf = getMember(message, 'tool_call_id');
  return {
    role: plainText(getMember(message, 'role'), 40),
    parts,
    calls: Array.isArray(calls) ? calls.map(callOf) : [],
    /** The call whose result it is. */
    resultOf: resultOf === undefined ? undefined : textOrJson(resultOf),
    rest: without(message, SHOWN),
  };
}

function partsOf(content: JsonValue | undefined): readonly MessagePart[] {
  if (content === undefined || content === null) return [];
  if (Array.isArray(content)) return content.map(partOf);
  return [typeof content === 'string' ? { kind: 'text', text: content } : { kind: 'other', value: content }];
}

const AUDIO_TYPES: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' };

function partOf(part: JsonValue): MessagePart {
  const other = { kind: 'other', value: part } as const;
  if (typeof part === 'string') return { kind: 'text', text: part };
  if (!isJsonObject(part)) return other;
  const names = Object.keys(part).filter((name) => name !== 'type');
  switch (getMember(part, 'type')) {
    case 'text': {
      const text = textIn(part, 'text');
      return text !== undefined && names.length === 1 ? { kind: 'text', text } : other;
    }
    case 'image_url': {
      const url = textIn(objectIn(part, 'image_url'), 'url');
      return url === undefined ? other : { kind: 'file', url, type: typeOfUrl(url) ?? 'image/*' };
    }
    case 'image': {
      const source = objectIn(part, 'source');
      return fileOf(textIn(source, 'data'), textOrJson(getMember(source, 'media_type'))) ?? other;
    }
    case 'input_audio': {
      const audio = objectIn(part, 'input_audio');
      return fileOf(textIn(audio, 'data'), AUDIO_TYPES[plainText(getMember(audio, 'format'), 10)]) ?? other;
    }
    case 'tool_use':
      return { kind: 'call', call: callOf(part) };
    default:
      return other;
  }
}

const fileOf = (data: string | undefined, type: string | undefined): MessagePart | undefined =>
  data === undefined || type === undefined
    ? undefined
    : { kind: 'file', url: `data:${type};base64,${data}`, type };

const typeOfUrl = (url: string): string | undefined => /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(url)?.[1];

function callOf(value: JsonValue) {
  const call = isJsonObject(value) ? value : {};
  const named = getMember(call, 'function');
  const target = isJsonObject(named) ? named : call;
  const stated = getMember(target, 'arguments') ?? getMember(target, 'input');
  const name = plainText(getMember(target, 'name'), 200);
  const id = textOrJson(getMember(call, 'id'));
  return name === '' ? { id, name: 'call', arguments: value } : { id, name, arguments: stated ?? null };
}

/** The beginning of what an item asks, for a list: of a conversation the first message of a user, and how much follows. */
export function questionOf(item: JsonObject, maxLength?: number): string {
  const prompt = inputOf(item, 'prompt');
  if (prompt !== undefined && prompt !== null)
    return typeof prompt === 'string' && prompt.trim() === ''
      ? '(empty prompt)'
      : plainText(prompt, maxLength);
  const messages = messagesOf(item) ?? [];
  const asked = messages.find(({ role }) => role === 'user') ?? messages[0];
  if (asked === undefined) return plainText(getMember(item, 'inputs') ?? item, maxLength);
  const texts = asked.parts.map((part) => (part.kind === 'text' ? part.text : `[${partName(part)}]`));
  const calls = messages.reduce(
    (sum, message) => sum + message.calls.length + message.parts.filter(({ kind }) => kind === 'call').length,
    0,
  );
  const counts = [
    formatCountOf(messages.length, 'message'),
    ...(calls > 0 ? [formatCountOf(calls, 'call')] : []),
  ];
  const text = plainText(texts.join(' '), maxLength);
  return messages.length > 1 ? `${text} (${counts.join(', ')})` : text;
}

const partName = (part: MessagePart): string =>
  part.kind === 'file' ? (part.type.split('/', 1)[0] ?? 'file') : part.kind;

/**
 * The options of an item with their labels, and which of them `answer` means. Both follow the checker `choice`: own labels
 * where every option has a different one, else letters; the answer is a label, a text, a letter, or an index from 0.
 */
export function choicesOf(item: JsonObject) {
  const listed = readChoices(inputOf(item, 'choices') ?? null) ?? [];
  const own = listed.map(choiceLabel);
  const hasOwn = own.every((label) => label !== null) && new Set(own).size === own.length;
  const choices = listed.map((choice, index) => ({
    text: wholeText(choiceContent(choice)),
    label: (hasOwn ? own[index] : null) ?? letterOf(index),
  }));
  const answer = getMember(item, 'answer');
  const meant = Array.isArray(answer) ? answer : answer === undefined ? [] : [answer];
  const right = new Set(meant.map((one) => choiceMeant(one, choices, hasOwn)));
  return choices.map((choice, index) => ({ ...choice, isRight: right.has(index) }));
}

function choiceMeant(
  answer: JsonValue,
  choices: readonly { readonly text: string; readonly label: string }[],
  hasOwn: boolean,
): number | undefined {
  if (answer === null || Array.isArray(answer)) return undefined;
  if (isJsonObject(answer)) {
    const named = getMember(answer, 'label') ?? getMember(answer, 'text');
    return named === undefined || isJsonObject(named) ? undefined : choiceMeant(named, choices, hasOwn);
  }
  const text = wholeText(answer).trim();
  const first = (matches: (choice: { readonly text: string; readonly label: string }) => boolean) => {
    const at = choices.findIndex(matches);
    return at === -1 ? undefined : at;
  };
  const alike = (one: string): boolean =>
    one.normalize('NFC').toLowerCase() === text.normalize('NFC').toLowerCase();
  const byLabel = first(({ label }) => alike(label));
  const byText = first((one) => one.text.trim() === text) ?? first((one) => alike(one.text.trim()));
  const byIndex = /^\d{1,9}$/.test(text) && Number(text) < choices.length ? Number(text) : undefined;
  return (hasOwn ? (byLabel ?? byText) : (byText ?? byLabel)) ?? byIndex;
}

const wholeText = (value: JsonValue): string => (typeof value === 'string' ? value : canonicalJson(value));

/** A to Z, then AA, AB and so on. */
function letterOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterOf(Math.floor(index / 26) - 1) + last;
}

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

export function tagsOf(item: JsonObject): readonly string[] {
  const tags = getMember(item, 'tags');
  return Array.isArray(tags) ? [...new Set(tags.filter((tag) => typeof tag === 'string'))] : [];
}
