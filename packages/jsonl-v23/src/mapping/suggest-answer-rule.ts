import { ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { choiceLabel, choicesMeant } from './choices.ts';
import { COLUMN_NAMES, isAnswerName, isNumberName, plainName } from './column-names.ts';
import type { MappableFeature } from './compile-mapping.ts';
import type { AnswerKind, Suggestion } from './mapping.ts';

/** The answer after `####`, on the last line. */
const MARKED_PATTERN = '####\\s*(\\S+)';
const MARKED = /(?:^|\n)[ \t]*####[ \t]*(\S+)[ \t]*\n?$/;
/** A number, perhaps with a currency sign, groups of thousands, or a per cent sign. */
const NUMBER =
  /^[$€£]?[-+\u2212]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?%?$/;
/** A longer text is not a number. */
const MAX_NUMBER_LENGTH = 64;

/** A row with the choices that its mapping gives it; null without a rule for choices. */
export interface AnsweredRow {
  readonly row: JsonObject;
  readonly choices: readonly JsonValue[] | null;
}

const NOTHING: Suggestion = { mapping: {}, reasons: {}, warnings: [] };
const MEDIA = /^(?:image|audio|video|pdf|mesh|nifti|binary|large_binary)$/;

/** Among columns named like an answer, the first whose values surely name choices or are numbers; else the first. */
export function suggestAnswer(
  features: readonly MappableFeature[],
  rows: readonly AnsweredRow[],
  hasChoices: boolean,
): Suggestion {
  const usable = features.filter(({ dtype }) => !MEDIA.test(dtype));
  const named = COLUMN_NAMES.target.flatMap((wanted) =>
    usable.filter(({ name }) => plainName(name) === wanted),
  );
  const candidates = [...new Set([...named, ...usable.filter(({ name }) => isAnswerName(name))])];
  const ranked = candidates.map((feature) => {
    const rule = suggestAnswerRule(feature.name, rows, hasChoices);
    const reason = `Column ${JSON.stringify(feature.name)} has the name of an answer.`;
    return {
      rank: rankOf(feature.name, rule, hasChoices),
      mapping: { answerColumn: feature.name, ...rule.mapping },
      reasons: { answer_column: reason, ...rule.reasons },
      warnings: rule.warnings,
    };
  });
  const [best] = ranked.sort((a, b) => a.rank - b.rank);
  return best ?? NOTHING;
}

/** Lower is better. */
function rankOf(name: string, { mapping, warnings }: Suggestion, hasChoices: boolean): number {
  if (hasChoices) return warnings.length;
  return mapping.defaultType === 'numeric' && (mapping.answerPattern !== undefined || isNumberName(name))
    ? 0
    : 1;
}

export function suggestAnswerRule(
  name: string,
  rows: readonly AnsweredRow[],
  hasChoices: boolean,
): Suggestion {
  const answered = rows.filter(({ row }) => (row[name] ?? '') !== '');
  if (answered.length === 0) return NOTHING;
  const answers = answered.map(({ row }) => row[name] as JsonValue);
  if (hasChoices) {
    const choices = answered.map((one) => one.choices ?? []);
    return byChoices(name, answers, choices);
  }
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
    warnings: [],
  };
}

const REASONS: Readonly<Record<Exclude<AnswerKind, 'text'>, string>> = {
  letter: 'The answers are letters of choices.',
  label: 'The answers are labels of choices.',
  index: 'The answers are indexes of choices, from 0.',
  number: 'The answers are numbers of choices, from 1.',
};

function byChoices(
  name: string,
  answers: readonly JsonValue[],
  choices: readonly (readonly JsonValue[])[],
): Suggestion {
  const isRead = (kind: AnswerKind): boolean => readingOf(kind, answers, choices) !== null;
  const haveLabels = choices.every((each) => each.some((choice) => choiceLabel(choice) !== null));
  const areCounted = isRead('index') || isRead('number');
  if (isRead('text') && !areCounted) return NOTHING;
  if (haveLabels && isRead('label')) return answerIs('label');
  if (isRead('letter')) return answerIs('letter');
  const readings = new Map<string, AnswerKind>();
  for (const kind of ['text', 'index', 'number'] as const) {
    const reading = readingOf(kind, answers, choices);
    if (reading !== null && !readings.has(reading)) readings.set(reading, kind);
  }
  const kinds = [...readings.values()];
  const [kind] = kinds;
  const column = JSON.stringify(name);
  if (kind === undefined) {
    return {
      ...NOTHING,
      warnings: [`Some answers in column ${column} name none of the choices of their rows.`],
    };
  }
  if (kinds.length === 1) return kind === 'text' ? NOTHING : answerIs(kind);
  const shown = JSON.stringify(answers[0]);
  const meanings = kinds.map((one) => `${MEANINGS[one]} ("answer_is": "${one}")`);
  const warning = `The answers in column ${column} can be read in more than one way, and the rows do not say which is right: ${shown} is ${meanings.join(' or ')}. Set answer_is.`;
  return { ...NOTHING, warnings: [warning] };
}

const MEANINGS: Readonly<Partial<Record<AnswerKind, string>>> = {
  text: 'the text of a choice',
  index: 'the index of a choice, counted from 0',
  number: 'the number of a choice, counted from 1',
};

function answerIs(kind: Exclude<AnswerKind, 'text'>): Suggestion {
  return { mapping: { answerIs: kind }, reasons: { answer_is: REASONS[kind] }, warnings: [] };
}

/** The choices that answers name, as a text that is equal for equal choices; null if an answer names none. */
function readingOf(
  kind: AnswerKind,
  answers: readonly JsonValue[],
  choices: readonly (readonly JsonValue[])[],
): string | null {
  const meant = answers.map((answer, row) => choicesMeant(kind, answer, choices[row] ?? []));
  return meant.every((indexes) => indexes !== undefined) ? JSON.stringify(meant) : null;
}

function isNumber(value: JsonValue | undefined): boolean {
  if (typeof value === 'number' || value instanceof ExactNumber) return true;
  if (typeof value !== 'string' || value.length > MAX_NUMBER_LENGTH) return false;
  const text = value.trim();
  return /[0-9]/.test(text) && NUMBER.test(text);
}
