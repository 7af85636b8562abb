import { createSha256, sha256, toHex } from '#native';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '../json/index.ts';

/** The rules that checkers score by; other rules get another name. */
export const SCORING = 'svc-scoring-1';

/** Members of a result that are JSON, as canonical texts; null without a value. */
const JSON_MEMBERS = ['output', 'reasoning', 'usage', 'error', 'scores', 'explanation'] as const;

export type HashedResult = { readonly [Name in (typeof JSON_MEMBERS)[number]]: string | null } & {
  readonly section: string;
  readonly orderIndex: number;
  readonly repetition: number;
  /** 64 hex digits; null if the item is gone. */
  readonly itemHash: string | null;
  readonly status: string;
  readonly finishReason: string | null;
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly scoredBy: string | null;
};

/** A result as a package, the API or a table has it. @param result its members by their names there */
export function hashedResult(result: JsonObject): HashedResult {
  const textOf = (name: string): string | null => {
    const value = getMember(result, name) ?? null;
    return value === null ? null : canonicalJson(value);
  };
  const member = <T>(name: string): T => (getMember(result, name) ?? null) as T;
  return {
    ...(Object.fromEntries(JSON_MEMBERS.map((name) => [name, textOf(name)])) as Record<
      (typeof JSON_MEMBERS)[number],
      string | null
    >),
    section: member('section'),
    orderIndex: member('order_index'),
    repetition: member<number | null>('repetition') ?? 1,
    itemHash: member('item_hash'),
    status: member('status'),
    finishReason: member('finish_reason'),
    score: member('score'),
    passed: member('passed'),
    scoredBy: member('scored_by'),
  };
}

/** The score that a result of a run without named scorers has in its record. */
export const MAIN_RECORD = 'main';

/** Whether a configuration names its scorers: the first of them gives a result's `score`. */
export function namesScorers(config: JsonValue): boolean {
  const scorers = isJsonObject(config) ? getMember(config, 'scorers') : undefined;
  return Array.isArray(scorers) && scorers.length > 0;
}

/** The scores and verdicts that a result's record has, by scorer. @param isNamed whether the run names its scorers */
function recordedScores(result: HashedResult, isNamed: boolean): JsonObject {
  const { score, passed, explanation, scoredBy, scores } = result;
  const said = explanation === null ? null : parseJson(explanation);
  const named = scores === null ? null : parseJson(scores);
  const all: JsonObject = {
    ...(isNamed ? {} : { [MAIN_RECORD]: { score, passed, explanation: said, scored_by: scoredBy } }),
    ...(isJsonObject(named) ? named : {}),
  };
  const recorded: JsonObject = {};
  for (const [name, one] of Object.entries(all)) {
    if (!isJsonObject(one)) continue;
    const { score = null, passed = null, explanation = null, scored_by = null } = one;
    if (score !== null || passed !== null) {
      setMember(recorded, name, { score, passed, explanation, scored_by });
    }
  }
  return recorded;
}

/** The canonical text of what a result has observed and concluded: its line in `baseline/results.jsonl`. */
export function recordText(result: HashedResult, isNamed: boolean): string {
  const { section, orderIndex, repetition, itemHash, status, finishReason } = result;
  const scores = canonicalJson(recordedScores(result, isNamed));
  // In the order of the names; a text that may be large is not read for it.
  return `{"error":${result.error},"finish_reason":${canonicalJson(finishReason)},"item_hash":${canonicalJson(itemHash)},"order_index":${orderIndex},"output":${result.output},"reasoning":${result.reasoning},"repetition":${repetition},"scores":${scores},"section":${canonicalJson(section)},"status":${canonicalJson(status)},"usage":${result.usage}}`;
}

/** Folds the records of a run, in the order of section, item and repetition. */
export interface RunHasher {
  /** @param record as {@link recordText} writes it */
  add(record: string): void;
  /** 64 lower-case hex digits. The hasher must not be used afterwards. */
  digest(): string;
}

/**
 * Starts the hash of a run: SHA-256 over `svc-run-1`, the version hash of its items, its configuration, its bar, and the
 * SHA-256 of each record in hex digits, a line each. Constant memory.
 *
 * @param run canonical texts, the bar null without one
 */
export function createRunHasher(run: {
  readonly versionHash: string;
  readonly config: string;
  readonly bar: string | null;
}): RunHasher {
  const state = createSha256();
  state.update(`svc-run-1\n${run.versionHash}\n${run.config}\n${run.bar}\n`);
  return {
    add: (record) => state.update(`${toHex(sha256(record))}\n`),
    digest: () => toHex(state.digest()),
  };
}

/** The hash of a bar, 64 lower-case hex digits. @param bar canonical text */
export const barHash = (bar: string): string => toHex(sha256(`svc-bar-1\n${bar}`));
