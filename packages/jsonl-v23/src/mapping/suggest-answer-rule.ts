import { ExactNumber, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { toChoices } from './choices.ts';
import { chooseAnswer } from './choose-answer.ts';
import type { Mapping } from './mapping.ts';

/** The answer after `####`, on the last line. */
const MARKED_PATTERN = '####\\s*(\\S+)';
const MARKED = /(?:^|\n)[ \t]*####[ \t]*(\S+)[ \t]*\n?$/;
/** A number, perhaps with a currency sign, groups of thousands, or a per cent sign. */
const NUMBER =
  /^[$€£]?[-+\u2212]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?%?$/;
/** A longer text is not a number. */
const MAX_NUMBER_LENGTH = 64;

/** What the values of the answers say about a mapping: a pattern, a type, what the answer is. */
export function suggestAnswerRule(
  mapping: Mapping,
  rows: readonly JsonObject[],
): { readonly mapping: Partial<Mapping>; readonly reasons: Readonly<Record<string, string>> } {
  const { answerColumn } = mapping;
  if (answerColumn === undefined) return NOTHING;
  const answered = rows.filter((row) => (row[answerColumn] ?? null) !== null);
  if (answered.length === 0) return NOTHING;
  const answers = answered.map((row) => row[answerColumn] as JsonValue);
  if (mapping.choicesColumn !== undefined || mapping.choicesColumns !== undefined) {
    return byChoices(mapping, answered, answers);
  }
  if (mapping.defaultType !== undefined) return NOTHING;
  const marked = answers.map((answer) =>
    typeof answer === 'string' ? MARKED.exec(answer.slice(-500))?.[1] : undefined,
  );
  const isMarked = marked.every((text) => text !== undefined);
  const isNumeric = (isMarked ? marked : answers).every(isNumber);
  return {
    mapping: {
      ...(isMarked ? { answerPattern: MARKED_PATTERN } : {}),
      ...(isNumeric ? { defaultType: 'numeric' } : {}),
    },
    reasons: {
      ...(isMarked ? { answer_pattern: 'The answers end with "####" and the result.' } : {}),
      ...(isNumeric ? { default_type: 'The answers are numbers.' } : {}),
    },
  };
}

const NOTHING = { mapping: {}, reasons: {} } as const;

function byChoices(
  mapping: Mapping,
  rows: readonly JsonObject[],
  answers: readonly JsonValue[],
): ReturnType<typeof suggestAnswerRule> {
  const choices = rows.map((row) => choicesOf(mapping, row));
  if (choices.some((each) => each === null)) return NOTHING;
  const named = (kind: 'index' | 'letter'): boolean =>
    answers.every((answer, row) => chooseAnswer(kind, answer, choices[row] ?? []) !== undefined);
  const areTexts = answers.every((answer, row) => (choices[row] ?? []).some((choice) => choice === answer));
  // Labels are answers by themselves.
  const areLabelled = choices.every((each) => each?.some(isJsonObject));
  if (areTexts || areLabelled) return NOTHING;
  if (named('index')) return answerIs('index', 'The answers are indexes of choices.');
  return named('letter') ? answerIs('letter', 'The answers are letters of choices.') : NOTHING;
}

function answerIs(kind: 'index' | 'letter', reason: string): ReturnType<typeof suggestAnswerRule> {
  return { mapping: { answerIs: kind }, reasons: { answer_is: reason } };
}

function choicesOf({ choicesColumn, choicesColumns = [] }: Mapping, row: JsonObject): JsonValue[] | null {
  if (choicesColumn !== undefined) {
    const cell = row[choicesColumn] ?? null;
    return cell === null ? null : toChoices(cell);
  }
  return choicesColumns.map((column) => row[column] ?? null).filter((cell) => cell !== null);
}

function isNumber(value: JsonValue | undefined): boolean {
  if (typeof value === 'number' || value instanceof ExactNumber) return true;
  if (typeof value !== 'string' || value.length > MAX_NUMBER_LENGTH) return false;
  const text = value.trim();
  return /[0-9]/.test(text) && NUMBER.test(text);
}
