import { isDatasetName } from '@svc/jsonl-v23';
import { ExactNumber, getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type Field, type FieldKind, timeOf } from '@svc/jsonl-v23/runs';

/** How often a run executes each item at most. */
export const MAX_REPETITIONS = 100;

/** Why a run or one of its results failed. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** What the provider says about it. */
  readonly provider_message?: string;
}

/** Code points of a provider's message. */
const MAX_PROVIDER_MESSAGE = 500;

/** Characters that are certain to be stored and read again. */
const MAX_ERROR_LENGTH = 10_000;

/** The error of a run or a result: null for none, undefined for an invalid value. */
export function readRunError(value: JsonValue | undefined): RunError | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isJsonObject(value)) return undefined;
  const code = getMember(value, 'code');
  const message = getMember(value, 'message');
  const words = getMember(value, 'provider_message');
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  if (code.length + message.length > MAX_ERROR_LENGTH) return undefined;
  if (typeof words !== 'string') return { code, message };
  // Earlier versions do not know it. Like them, this leaves out what is too long.
  return words.length > 2 * MAX_PROVIDER_MESSAGE
    ? { code, message }
    : { code, message, provider_message: words };
}

export const MAX_SCORERS = 16;
/** A filter of lm-evaluation-harness follows a comma. */
const SCORER_NAME = /^[\w.,-]{1,64}$/;
const SCORED_BY: readonly JsonValue[] = ['checker', 'judge', 'client', 'label', null];

/** Whether a value is what scorers say of an output, by their names. */
export function areScores(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_SCORERS && entries.every(([name, one]) => SCORER_NAME.test(name) && isScore(one))
  );
}

function isScore(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { score = null, passed = null, explanation = null, scored_by = null, error } = value;
  return (
    (score === null || (typeof score === 'number' && score >= 0 && score <= 1)) &&
    (passed === null || (typeof passed === 'boolean' && score !== null)) &&
    (explanation === null || typeof explanation === 'string') &&
    SCORED_BY.includes(scored_by) &&
    readRunError(error) !== undefined
  );
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const VERSION_HASH = /^[0-9a-f]{64}$/;

interface MemberReader {
  /** The value of the field; undefined for an invalid member. */
  readonly read: (member: JsonValue, field: Field) => unknown;
  /** What the member must be, for errors. */
  readonly wanted: (field: Field) => string;
}

/** How a member is read, by the kind of its field. */
export const MEMBER_READERS: Readonly<Record<FieldKind, MemberReader>> = {
  text: readerOf((member) => typeof member === 'string', 'a string'),
  title: readerOf(isDatasetName, '1 to 255 characters without control characters, or null'),
  name: readerOf(
    (member) => typeof member === 'string' && /^[\w.-]{1,64}$/.test(member),
    'a name of at most 64 characters, or null',
  ),
  word: {
    read: (member, { values = [] }) => values.find((word) => word === member),
    wanted: ({ values = [] }) => {
      const words = values.map((word) => `"${word}"`);
      return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
    },
  },
  integer: {
    read: (member, field) => (Number.isSafeInteger(member) && isInRange(member, field) ? member : undefined),
    wanted: (field) => `an integer ${rangeOf(field)}`,
  },
  count: readerOf((member) => Number.isSafeInteger(member) && Number(member) >= 0, 'a number of tokens'),
  number: {
    read: (member, field) => (isInRange(member, field) ? member : undefined),
    wanted: (field) => `a number ${rangeOf(field)}`,
  },
  boolean: readerOf((member) => typeof member === 'boolean', 'true, false or null'),
  hash: known(VERSION_HASH),
  digest: known(VERSION_HASH),
  uuid: known(UUID),
  time: { read: timeOf, wanted: () => 'a time in ISO 8601 with "Z", or null' },
  id: readerOf((member) => typeof member === 'string' || isInteger(member), 'a string, an integer or null'),
  string: readerOf((member) => typeof member === 'string', 'a string or null'),
  long_string: readerOf((member) => typeof member === 'string', 'a string or null'),
  json: readerOf(() => true, 'a value'),
  object: readerOf(isJsonObject, 'an object or null'),
  names: readerOf(
    (member) => Array.isArray(member) && member.every((name) => typeof name === 'string'),
    'an array of names, or null',
  ),
  scores: readerOf(areScores, 'an object with the scores of at most 16 scorers, or null'),
  failure: { read: readRunError, wanted: () => 'an object with code and message, or null' },
};

/** A text of another form is unknown, and therefore null. */
function known(pattern: RegExp): MemberReader {
  return {
    read: (member) => (typeof member === 'string' && pattern.test(member) ? member : null),
    wanted: () => 'a text',
  };
}

function readerOf(isValid: (member: JsonValue) => boolean, wanted: string): MemberReader {
  return { read: (member) => (isValid(member) ? member : undefined), wanted: () => wanted };
}

const isInRange = (member: JsonValue, { minimum = -Infinity, maximum = Infinity }: Field): boolean =>
  typeof member === 'number' && member >= minimum && member <= maximum;

function rangeOf({ minimum, maximum, isRequired = false }: Field): string {
  const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return isRequired ? range : `${range}, or null`;
}

/** An id may be any integer that an item may have, however it is written. */
function isInteger(value: JsonValue): boolean {
  return value instanceof ExactNumber ? !value.text.includes('.') : Number.isInteger(value);
}
