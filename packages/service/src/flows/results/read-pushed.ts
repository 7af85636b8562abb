import { isDatasetName, JsonlError } from '@svc/jsonl-v23';
import {
  canonicalJson,
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';
import { type LineBatch, linesOf } from '@svc/jsonl-v23/lines';
import { SCORER_SCHEMA } from '../../evaluation/index.ts';
import { type ItemReference, MAX_SCORERS } from '../../store/index.ts';

export interface PushedLines {
  readonly batch: LineBatch;
  readonly options: PushedLineOptions;
}

interface PushedLineOptions {
  readonly maxDepth: number;
  readonly repetitions: number;
  /** Whether lines only bring scores, of existing results. */
  readonly areScores: boolean;
}

export interface PushedScore {
  readonly score: number;
  /** Null for a score between 0 and 1 that came alone. */
  readonly passed: boolean | null;
  readonly explanation: string | null;
}

/** A result as a client sends it; JSON values are texts, so that it passes between threads. */
export interface PushedResult {
  readonly reference: ItemReference;
  readonly repetition: number;
  /** Null if there is an error. */
  readonly output: string | null;
  readonly reasoning: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly finishReason: string | null;
  readonly latencyMs: number | null;
  readonly usage: string | null;
  readonly traceId: string | null;
  readonly scores: Readonly<Record<string, PushedScore>>;
}

/** A line that is not blank: its result, or why it has none. */
export type PushedLine =
  | { readonly line: number; readonly result: PushedResult }
  | { readonly line: number; readonly problem: string };

/** Reads a batch of lines. It is a pure function, so any thread may do it. A bad line does not affect the others. */
export function readPushedLines({ batch, options }: PushedLines): readonly PushedLine[] {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const read: PushedLine[] = [];
  for (const { line, bytes } of linesOf(batch)) {
    try {
      const text = decoder.decode(bytes);
      if (/^[ \t\r]*$/.test(text)) continue;
      const value = parseJson(text, { maxDepth: options.maxDepth });
      if (!isJsonObject(value)) throw mustBe('The line', 'a JSON object');
      read.push({ line, result: readResult(value, options) });
    } catch (error) {
      read.push({ line, problem: problemOf(error) });
    }
  }
  return read;
}

/** What is wrong with a line, without a full stop. */
class LineProblem extends Error {}

function mustBe(name: string, rule: string): LineProblem {
  return new LineProblem(`${name} must be ${rule}`);
}

function problemOf(error: unknown): string {
  if (error instanceof LineProblem) return error.message;
  if (error instanceof JsonlError) return `Invalid JSON: ${error.message.slice(0, MAX_MESSAGE_CHARS)}`;
  if (error instanceof TypeError) return 'The line must be UTF-8';
  throw error;
}

const MAX_MESSAGE_CHARS = 300;
const MAX_USAGE_CHARS = 16_384;
const MAX_ID_CHARS = 65_536;
const MAX_ERROR_CHARS = 10_000;
const MAX_INDEX = 2_147_483_647;
/** A client may send the line of `pending` back, with an output: its other members then say nothing. */
const IGNORED: ReadonlySet<string> = new Set(['item', 'request', 'claimed_until']);
const NAME = /^[\w.-]{1,64}$/;
const SCORER_NAME = new RegExp(SCORER_SCHEMA.properties.name.pattern);
const HASH = /^[0-9a-f]{64}$/;

type Reader<T> = (value: JsonValue, name: string) => T;

const READERS = {
  section: text,
  order_index: integerFrom(0, MAX_INDEX),
  item_id: id,
  item_hash: matching(HASH, '64 hexadecimal digits in lower case'),
  repetition: integerFrom(1, MAX_INDEX),
  output: (value) => value,
  reasoning: text,
  error: failure,
  finish_reason: matching(NAME, 'a name of at most 64 letters, digits, `_`, `.` and `-`'),
  usage: (value, name) => {
    if (!isJsonObject(value)) throw mustBe(name, 'an object');
    return value;
  },
  latency_ms: (value, name) => Math.round(numberFrom(0, 1e12)(value, name) * 10) / 10,
  trace_id: (value, name) => {
    if (isDatasetName(value)) return value;
    throw mustBe(name, '1 to 255 characters without control characters');
  },
  scores: (value, name) => {
    if (!isJsonObject(value)) throw mustBe(name, 'an object');
    return value;
  },
} satisfies Record<string, Reader<unknown>>;

type Members = { readonly [Name in keyof typeof READERS]?: ReturnType<(typeof READERS)[Name]> };

function readResult(line: JsonObject, options: PushedLineOptions): PushedResult {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(line)) {
    if (IGNORED.has(name) || value === null) continue;
    if (!Object.hasOwn(READERS, name))
      throw new LineProblem(`The line has the unknown member ${quoted(name)}`);
    read[name] = READERS[name as keyof typeof READERS](value, name);
  }
  const members = read as Members;
  const { repetitions, areScores } = options;
  const { repetition = 1, output, reasoning, error = null, usage } = members;
  if (areScores) checkScoresAlone(read);
  if (repetition > repetitions) throw mustBe('repetition', `at most ${repetitions}`);
  if (!areScores && output === undefined && error === null)
    throw new LineProblem('The line must have an output or an error');
  if (output !== undefined && error !== null)
    throw new LineProblem('The line must not have both output and error');
  const scores = readScores(members.scores ?? {});
  if (error !== null && Object.keys(scores).length > 0) {
    throw new LineProblem('The line must not have both error and scores');
  }
  const usageText = usage === undefined ? null : canonicalJson(usage);
  if (usageText !== null && usageText.length > MAX_USAGE_CHARS) {
    throw new LineProblem(`usage must have at most ${MAX_USAGE_CHARS} characters`);
  }
  return {
    reference: readReference(members),
    repetition,
    output: output === undefined ? null : canonicalJson(output),
    reasoning: reasoning === undefined ? null : canonicalJson(reasoning),
    error,
    finishReason: members.finish_reason ?? null,
    latencyMs: members.latency_ms ?? null,
    usage: usageText,
    traceId: members.trace_id ?? null,
    scores,
  };
}

const OF_SCORES: ReadonlySet<string> = new Set([
  ...['section', 'order_index', 'item_id', 'item_hash', 'repetition', 'scores'],
]);

function checkScoresAlone(read: Readonly<Record<string, unknown>>): void {
  const other = Object.keys(read).find((name) => !OF_SCORES.has(name));
  if (other !== undefined)
    throw new LineProblem(`The line has the member ${quoted(other)}, which is not a score`);
  if (Object.keys((read['scores'] as object | undefined) ?? {}).length === 0) {
    throw new LineProblem('The line must have scores');
  }
}

function readReference({ section, order_index, item_id, item_hash }: Members): ItemReference {
  if ((section === undefined) !== (order_index === undefined)) {
    throw new LineProblem('The line must have both section and order_index, or neither');
  }
  if (section === undefined && item_id === undefined && item_hash === undefined) {
    throw new LineProblem('The line must name its item by section and order_index, item_id or item_hash');
  }
  return {
    section: section ?? null,
    orderIndex: order_index ?? null,
    itemId: item_id ?? null,
    itemHash: item_hash ?? null,
  };
}

/**
 * Reads `{<name>: {score, passed, explanation}}`. `passed` alone is a score of 1 or 0. A score alone of 1 has passed,
 * of 0 has failed, and one between them has neither.
 */
function readScores(scores: JsonObject): Record<string, PushedScore> {
  const read: Record<string, PushedScore> = {};
  if (Object.keys(scores).length > MAX_SCORERS)
    throw new LineProblem(`The line must have at most ${MAX_SCORERS} scores`);
  for (const [name, value] of Object.entries(scores)) {
    if (!SCORER_NAME.test(name)) {
      const names = '1 to 64 letters, digits, `_`, `.` and `-`, and not `__proto__`';
      throw mustBe(`The name of the scorer ${quoted(name)}`, names);
    }
    if (!isJsonObject(value)) throw mustBe(`scores.${name}`, 'an object');
    const { score: stated = null, passed = null, explanation = null, ...others } = value;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      throw new LineProblem(`scores.${name} has the unknown member ${quoted(unknown)}`);
    if (passed !== null && typeof passed !== 'boolean') {
      throw mustBe(`scores.${name}.passed`, 'true or false');
    }
    if (explanation !== null && typeof explanation !== 'string') {
      throw mustBe(`scores.${name}.explanation`, 'a text');
    }
    if (stated === null && passed === null) {
      throw new LineProblem(`scores.${name} must have score or passed`);
    }
    const score =
      stated === null ? (passed === true ? 1 : 0) : numberFrom(0, 1)(stated, `scores.${name}.score`);
    read[name] = {
      score,
      passed: passed ?? (score === 1 ? true : score === 0 ? false : null),
      explanation,
    };
  }
  return read;
}

function text(value: JsonValue, name: string): string {
  if (typeof value === 'string') return value;
  throw mustBe(name, 'a text');
}

function id(value: JsonValue, name: string): string {
  const isId =
    typeof value === 'string' ||
    (value instanceof ExactNumber ? /^-?\d+$/.test(value.text) : Number.isInteger(value));
  const json = isId ? canonicalJson(value) : '';
  if (isId && json.length <= MAX_ID_CHARS) return json;
  throw mustBe(name, `a text or an integer of at most ${MAX_ID_CHARS} characters`);
}

function matching(pattern: RegExp, wanted: string): Reader<string> {
  return (value, name) => {
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw mustBe(name, wanted);
  };
}

function numberFrom(minimum: number, maximum: number): Reader<number> {
  return (value, name) => {
    const number = value instanceof ExactNumber ? Number(value.text) : value;
    if (typeof number === 'number' && number >= minimum && number <= maximum) return number;
    throw mustBe(name, `a number from ${minimum} to ${maximum}`);
  };
}

function integerFrom(minimum: number, maximum: number): Reader<number> {
  return (value, name) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum)
      return value;
    throw mustBe(name, `an integer from ${minimum} to ${maximum}`);
  };
}

function failure(value: JsonValue, name: string): { readonly code: string; readonly message: string } {
  const { code = 'client_error', message = null } = isJsonObject(value) ? value : { message: value };
  if (typeof code === 'string' && NAME.test(code) && typeof message === 'string') {
    if (message.length <= MAX_ERROR_CHARS) return { code, message };
    return { code, message: `${message.slice(0, MAX_ERROR_CHARS - 1)}…` };
  }
  throw mustBe(name, 'a text, or an object with code and message');
}

const quoted = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
