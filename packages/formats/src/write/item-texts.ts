import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { LostCounter } from '../lost.ts';
import { elementsOf, isFilled, memberOf, membersOf, numberOf, textOf } from '../read-json.ts';
import type { SourceItem, SourceRun } from './tool-source.ts';

/** A value for a tool that takes texts: another value as its JSON text. */
export const plainText = (value: JsonValue): string =>
  typeof value === 'string' ? value : canonicalJson(value);

/** The choices of an item, each with its letter. */
export const letteredChoices = (item: JsonObject): string[] =>
  elementsOf(memberOf(item['inputs'] ?? null, 'choices')).map(
    (choice, index) => `${String.fromCharCode(65 + (index % 26))}. ${plainText(choice)}`,
  );

/** What is counted for a member that a format does not write; any other one is counted by its own name. */
const COUNTED_AS: ReadonlyMap<string, string> = new Map([
  ['answer', 'answers'],
  ['checker', 'checkers'],
]);
/** Inputs that every format writes. */
const ASKED: ReadonlySet<string> = new Set(['prompt', 'system_prompt', 'messages']);

/** Counts the members of an item and of its inputs that a format does not write. @param written names of members */
export function countUnwritten(
  { item, section }: SourceItem,
  written: readonly string[],
  lost: LostCounter,
): void {
  const location = { file: section };
  for (const [name, value] of Object.entries(item)) {
    const isCounted = name !== 'inputs' && name !== 'assets' && !written.includes(name) && isFilled(value);
    if (isCounted) lost.add(COUNTED_AS.get(name) ?? name, location);
  }
  for (const [name, value] of Object.entries(membersOf(item['inputs']))) {
    if (!ASKED.has(name) && isFilled(value)) lost.add(name, location);
  }
}

/**
 * Puts images after what the user says last, or in a message of the user where the last message is not one, as runs do.
 *
 * @param partOf the image as a part of content
 */
export function withImages(
  messages: readonly JsonObject[],
  images: readonly string[],
  partOf: (image: string) => JsonObject,
): readonly JsonObject[] {
  if (images.length === 0) return messages;
  const last = messages.at(-1);
  const isQuestion = last !== undefined && (last['role'] ?? 'user') === 'user';
  const question = isQuestion ? last : {};
  const { content = '' } = question;
  const text = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  const parts = [...text, ...elementsOf(content), ...images.map(partOf)];
  return [...(isQuestion ? messages.slice(0, -1) : messages), { ...question, role: 'user', content: parts }];
}

/** The model of a run, or the name of its provider. */
export function modelOf(run: SourceRun | null): string {
  const { model = null, provider = null } = run?.config ?? {};
  return (
    textOf(model) ?? textOf(memberOf(provider, 'model')) ?? textOf(memberOf(provider, 'label')) ?? 'unknown'
  );
}

/** Tokens by the names that providers give them; 0 where they are not known. */
export function tokensOf(usage: JsonValue): {
  readonly input: number;
  readonly output: number;
  readonly total: number;
} {
  const first = (...names: string[]): number =>
    names.map((name) => numberOf(memberOf(usage, name))).find((one) => one !== null) ?? 0;
  const input = first('input_tokens', 'prompt_tokens');
  const output = first('output_tokens', 'completion_tokens');
  return { input, output, total: first('total_tokens') || input + output };
}
