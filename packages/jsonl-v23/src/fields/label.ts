import { getMember, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';

export interface ResultLabel {
  readonly by: string;
  /** Null for a label that only has a note or types. */
  readonly verdict: Verdict | null;
  readonly note: string | null;
  /** Kinds of failures, each once. */
  readonly types: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type Verdict = 'pass' | 'fail';
export const VERDICTS: readonly Verdict[] = ['pass', 'fail'];

/** Code points of a note, and of a type; types of a label; labels of an output that are read. */
export const MAX_NOTE_LENGTH = 10_000;
export const MAX_TYPE_LENGTH = 64;
export const MAX_LABEL_TYPES = 20;
export const MAX_OUTPUT_LABELS = 100;

/** Code points of the name of a person. */
const MAX_PERSON_LENGTH = 64;

/** Neither begins nor ends with a blank. */
const WORDS = /^[^\p{Cc}\p{Cs}\p{Z}](?:[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*[^\p{Cc}\p{Cs}\p{Z}])?$/u;
const TIME = /^(?:19[7-9]\d|[2-9]\d{3})-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Whether a text is a type: 1 to 64 code points without control characters, no blanks around them. */
export const isLabelType = (text: string): boolean => isWords(text, MAX_TYPE_LENGTH);

/** Whether a text may be the note of a label: well-formed Unicode without NUL, at most 10,000 code points. */
export function isLabelNote(text: string): boolean {
  return isAtMost(text, MAX_NOTE_LENGTH) && text.isWellFormed() && !text.includes('\0');
}

/** A code point has at most two units. */
const isAtMost = (text: string, length: number): boolean =>
  text.length <= length || (text.length <= 2 * length && [...text].length <= length);

const isWords = (text: string, length: number): boolean => isAtMost(text, length) && WORDS.test(text);

export function labelMembers({ by, verdict, note, types, createdAt, updatedAt }: ResultLabel): JsonObject {
  return {
    ...{ by, verdict, note, types: [...types] },
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** Reads the labels of a result line; undefined unless {@link labelMembers} can have written it. */
export function readLabels(value: JsonValue | undefined): readonly ResultLabel[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_OUTPUT_LABELS) return undefined;
  const labels = value.map(readLabel);
  if (!labels.every((label) => label !== undefined)) return undefined;
  return new Set(labels.map(({ by }) => by)).size < labels.length ? undefined : labels;
}

function readLabel(value: JsonValue): ResultLabel | undefined {
  if (!isJsonObject(value)) return undefined;
  const member = (name: string): JsonValue => getMember(value, name) ?? null;
  const by = member('by');
  const verdict = member('verdict');
  const note = member('note');
  const types = member('types') ?? [];
  const updatedAt = timeOf(member('updated_at'));
  const createdAt = timeOf(member('created_at') ?? member('updated_at'));
  const isValid =
    typeof by === 'string' &&
    isWords(by, MAX_PERSON_LENGTH) &&
    (verdict === null || VERDICTS.some((known) => known === verdict)) &&
    (note === null || (typeof note === 'string' && isLabelNote(note))) &&
    Array.isArray(types) &&
    types.length <= MAX_LABEL_TYPES &&
    types.every((type) => typeof type === 'string' && isLabelType(type)) &&
    new Set(types).size === types.length;
  if (!isValid || createdAt === undefined || updatedAt === undefined) return undefined;
  if (verdict === null && note === null && types.length === 0) return undefined;
  return {
    ...{ by, note, createdAt, updatedAt },
    verdict: verdict as Verdict | null,
    types: types as readonly string[],
  };
}

/** A time in ISO 8601 with "Z"; undefined for any other value. */
export function timeOf(value: JsonValue): Date | undefined {
  const time = typeof value === 'string' && TIME.test(value) ? new Date(value) : undefined;
  return Number.isNaN(time?.getTime()) ? undefined : time;
}
