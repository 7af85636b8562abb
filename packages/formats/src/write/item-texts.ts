import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { labelledChoices } from '@svc/jsonl-v23/mapping';
import type { ExportResult } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { choiceLetter, itemMessages } from '../messages.ts';
import { elementsOf, isFilled, memberOf, membersOf, numberOf, textOf } from '../read-json.ts';
import type { SourceRun } from './tool-source.ts';

/** A value for a tool that takes texts: another value as its JSON text. */
export const plainText = (value: JsonValue): string =>
  typeof value === 'string' ? value : canonicalJson(value);

export const letteredChoices = (item: JsonObject): string[] =>
  labelledChoices(item).choices.map(({ label, text }) => `${label}. ${text}`);

/** The choices of an item as Inspect takes them: their texts, and the letters that the answer of the item means. */
export function inspectChoices(item: JsonObject): {
  readonly choices: readonly string[];
  /** Null for each value of the answer that is none of them. */
  readonly letters: readonly (string | null)[];
} {
  const { answer = null } = item;
  const { choices } = labelledChoices(item);
  const letters = (Array.isArray(answer) ? answer : [answer])
    .filter((one) => one !== null)
    .map((one) => {
      const text = plainText(memberOf(one, 'text') ?? one).trim();
      const found = [
        choices.findIndex((choice) => choice.text.trim() === text),
        choices.findIndex(({ label }) => label.toLowerCase() === text.toLowerCase()),
        /^\d{1,4}$/.test(text) && Number(text) < choices.length ? Number(text) : -1,
      ].find((index) => index !== -1);
      return found === undefined ? null : choiceLetter(found);
    });
  return { choices: choices.map(({ text }) => text), letters };
}

/** Messages with another content of what the user says last, or of a message of the user if the last one is another's. */
function withQuestion(
  messages: readonly JsonObject[],
  change: (content: JsonValue) => JsonValue,
): readonly JsonObject[] {
  const last = messages.at(-1);
  const isQuestion = last !== undefined && (last['role'] ?? 'user') === 'user';
  const question = isQuestion ? last : {};
  const content = change(question['content'] ?? '');
  return [...(isQuestion ? messages.slice(0, -1) : messages), { ...question, role: 'user', content }];
}

/** What is asked with an item, as a run asks it: its choices follow what the user says last. */
export function askedMessages(item: JsonObject): readonly JsonObject[] {
  const messages = itemMessages(item);
  const choices = letteredChoices(item).join('\n');
  if (choices === '') return messages;
  return withQuestion(messages, (content) => {
    if (!Array.isArray(content)) {
      const text = textOf(content) ?? '';
      return text === '' ? choices : `${text}\n\n${choices}`;
    }
    const end = content.at(-1);
    const text = memberOf(end, 'type') === 'text' ? textOf(memberOf(end, 'text')) : null;
    return text === null
      ? [...content, { type: 'text', text: choices }]
      : [...content.slice(0, -1), { type: 'text', text: `${text}\n\n${choices}` }];
  });
}

/** The names under which members that a format does not write are counted; others count under their own. */
const COUNTED_AS: ReadonlyMap<string, string> = new Map([
  ['answer', 'answers'],
  ['checker', 'checkers'],
]);
const ASKED: ReadonlySet<string> = new Set(['prompt', 'system_prompt', 'messages', 'choices']);

/** Counts the members of an item and of its inputs that a format does not write. @param written names of members */
export function countUnwritten(item: JsonObject, written: readonly string[], place: Place): void {
  for (const [name, value] of Object.entries(item)) {
    const isCounted = name !== 'inputs' && name !== 'assets' && !written.includes(name) && isFilled(value);
    if (isCounted) place.lost(COUNTED_AS.get(name) ?? name);
  }
  for (const [name, value] of Object.entries(membersOf(item['inputs']))) {
    if (!ASKED.has(name) && isFilled(value)) place.lost(name);
  }
}

/** Puts images after what the user says last, or in a message of the user if the last message is another's, as runs do. */
export function withImages(
  messages: readonly JsonObject[],
  images: readonly string[],
  partOf: (image: string) => JsonObject,
): readonly JsonObject[] {
  if (images.length === 0) return messages;
  return withQuestion(messages, (content) => {
    const text = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
    return [...text, ...elementsOf(content), ...images.map(partOf)];
  });
}

export function modelOf(run: SourceRun | null): string {
  const { model = null, provider = null } = run?.config ?? {};
  return (
    textOf(model) ?? textOf(memberOf(provider, 'model')) ?? textOf(memberOf(provider, 'label')) ?? 'unknown'
  );
}

export function mainScorerOf(run: SourceRun | null): string | null {
  const { scorers = null, main_scorer: stated = null } = run?.config ?? {};
  return textOf(memberOf(elementsOf(scorers)[0], 'name')) ?? textOf(stated);
}

/** The scores of a result by their scorers, the main one first. A scorer without a name is called `score`. */
export function namedScores(
  { scores = null, score = null, passed = null, explanation = null }: ExportResult,
  main: string | null,
): readonly (readonly [name: string, score: JsonObject])[] {
  if (!isFilled(scores)) return score === null ? [] : [['score', { score, passed, explanation }]];
  const isMain = ([name, one]: readonly [string, JsonObject]): boolean =>
    main === null
      ? score !== null && one['score'] === score && (one['explanation'] ?? null) === explanation
      : name === main;
  const all = Object.entries(membersOf(scores)).flatMap(([name, one]) =>
    memberOf(one, 'score') === null ? [] : [[name, membersOf(one)] as const],
  );
  return [...all.filter(isMain), ...all.filter((one) => !isMain(one))];
}

/** Tokens, by the names that most providers give them; 0 if unknown. */
export function tokensOf(
  usage: JsonValue,
): Readonly<Record<'input_tokens' | 'output_tokens' | 'total_tokens', number>> {
  const first = (...names: string[]): number =>
    names.map((name) => numberOf(memberOf(usage, name))).find((one) => one !== null) ?? 0;
  const input = first('input_tokens', 'prompt_tokens');
  const output = first('output_tokens', 'completion_tokens');
  const total = first('total_tokens') || input + output;
  return { input_tokens: input, output_tokens: output, total_tokens: total };
}
