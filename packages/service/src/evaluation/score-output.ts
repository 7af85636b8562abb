import type { ItemParts } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ScorerScore } from '@svc/jsonl-v23/runs';
import { type MarkedFiles, markFiles, type ReadFile } from './assets/marked-files.ts';
import type { CheckOutcome } from './checkers/checker.ts';
import { type RunConfig, type ScorerPlan, scorersOf } from './config/run-config.ts';
import { JsonText } from './item/canonical-text.ts';
import {
  isLargeItem,
  MAX_INLINE_TEXT_CHARS,
  type RunChecker,
  readItem,
  withChecker,
} from './item/large-item.ts';
import { tokenCounts } from './provider.ts';
import type { ReasoningMode } from './reading/scored-output.ts';
import { type Facts, failed, failedWith, nothingOf, UNREADABLE } from './result-facts.ts';
import { RunError } from './run-error.ts';
import type { RunItem, RunResult, StoredOutput } from './run-session.ts';
import { askJudge, type Judge } from './scoring/ask-judge.ts';
import { packValue } from './scoring/packed-value.ts';
import { type CheckPlan, planCheck, runCheck } from './scoring/plan-check.ts';
import { costOf } from './statistics/run-cost.ts';
import type { CheckRunner } from './threads/check-runner.ts';

export interface Scorer {
  readonly name: string;
  readonly checker: RunChecker | null;
  readonly judge: Judge | null;
  readonly reasoning: ReasoningMode;
}

/** The scorers of a run: the scorer of `score`, and the others. */
export interface Scorers {
  readonly main: Scorer;
  readonly others: readonly Scorer[];
  /** Whether `scores` has the main one too. */
  readonly areNamed: boolean;
}

export interface ScoreOutputDeps {
  readonly checks: CheckRunner;
  readonly readFile: ReadFile;
}

/**
 * Scores an output with its item. An error of the item becomes its result, `failed`.
 *
 * @throws RunError with `endsRun` if every item would fail in the same way; the signal's reason when it is aborted
 */
export async function scoreOutput(
  deps: ScoreOutputDeps,
  item: RunItem,
  stored: StoredOutput,
  scorers: Scorers,
  signal: AbortSignal,
): Promise<RunResult> {
  const facts = { ...nothingOf(item, stored.repetition), ...factsOf(stored) };
  if (stored.failure !== null) return failedWith(facts, stored.failure);
  if (item.parts === null) return failedWith(facts, item.failure ?? UNREADABLE);
  const marked = markFiles(item.parts, item.linkedFiles, deps.readFile);
  return await scoreAll(deps, marked, facts, scorers, signal);
}

/** Scores an output by every scorer. An error of a scorer other than the main one becomes an error of its score. */
export async function scoreAll(
  deps: ScoreOutputDeps,
  marked: { readonly parts: ItemParts; readonly files: MarkedFiles | undefined },
  facts: Facts,
  { main, others, areNamed }: Scorers,
  signal: AbortSignal,
): Promise<RunResult> {
  const result = await score(deps, main, marked, facts, signal);
  if (others.length === 0 && !areNamed) return result;
  const scores: Record<string, ScorerScore> = areNamed ? { [main.name]: scoreOf(result) } : {};
  let { judgeUsage, judgeCost, omittedAssets, endsRun } = result;
  for (const other of others) {
    const scored = await score(deps, other, marked, facts, signal);
    scores[other.name] = scoreOf(scored);
    endsRun ??= scored.endsRun;
    judgeUsage = addUsage(judgeUsage, scored.judgeUsage);
    judgeCost = addCost(judgeCost, scored.judgeCost);
    omittedAssets = allOmitted(omittedAssets, scored.omittedAssets ?? []);
  }
  return { ...result, scores, judgeUsage, judgeCost, omittedAssets, ...(endsRun && { endsRun }) };
}

function scoreOf({ score, passed, explanation, scoredBy, error }: RunResult): ScorerScore {
  const said = { score, passed, explanation, scored_by: scoredBy };
  return error === null ? said : { ...said, error: { code: error.code, message: error.message } };
}

export function addUsage(
  first: RunResult['judgeUsage'],
  second: RunResult['judgeUsage'],
): RunResult['judgeUsage'] {
  if (first === null || second === null) return first ?? second;
  const [one, other] = [tokenCounts(first), tokenCounts(second)];
  return {
    input_tokens: (one.input ?? 0) + (other.input ?? 0),
    output_tokens: (one.output ?? 0) + (other.output ?? 0),
  };
}

const addCost = (first: number | null, second: number | null): number | null =>
  first === null ? second : first + (second ?? 0);

/** What a judge charged for an answer; null without one, or without a price. */
function chargeOf(judge: Judge | null, usage: RunResult['judgeUsage']): number | null {
  const { input, output } = tokenCounts(usage);
  if (judge === null || judge.price === null || (input === null && output === null)) return null;
  return costOf(judge.price, input ?? 0, output ?? 0);
}

function factsOf({ failure: _, ...facts }: StoredOutput): Partial<Facts> {
  return facts;
}

async function score(
  deps: ScoreOutputDeps,
  { checker, judge, reasoning }: Scorer,
  marked: { readonly parts: ItemParts; readonly files: MarkedFiles | undefined },
  facts: Facts,
  signal: AbortSignal,
): Promise<RunResult> {
  const { output } = facts;
  // Only a judge learns the reasoning.
  const thoughts = judge === null ? null : facts.reasoning;
  const parts = withChecker(marked.parts, checker);
  const asked = judge && {
    defaultPrompts: judge.defaultPrompts,
    wireFormat: judge.provider.wireFormat ?? ('chat_completions' as const),
  };
  let known = facts;
  try {
    const plan =
      output instanceof JsonText ||
      thoughts instanceof JsonText ||
      [output, thoughts].some(isLongText) ||
      isLargeItem(parts)
        ? await deps.checks.run(
            {
              kind: 'score',
              parts,
              reasoning,
              output: packValue(output),
              thoughts: packValue(thoughts ?? undefined),
              judge: asked && { ...asked, defaultPrompts: packValue(asked.defaultPrompts) },
            },
            signal,
          )
        : planCheck({ judge: asked, reasoning, thoughts, output, item: readItem(parts) });
    if ('question' in plan) {
      known = { ...facts, omittedAssets: allOmitted(facts.omittedAssets, plan.question.omittedAssets) };
    }
    const performed = await performCheck(plan, { judge, checks: deps.checks, files: marked.files }, signal);
    const { judgeUsage = null, ...outcome } = performed;
    const scoredBy = outcome.status !== 'ok' ? null : 'question' in plan ? 'judge' : 'checker';
    const judgeCost = chargeOf(judge, judgeUsage);
    return { ...known, ...outcome, scoredBy, scores: null, judgeUsage, judgeCost, error: null };
  } catch (error) {
    const result = failed(known, error, signal);
    const judgeUsage = result.judgeUsage ?? (error instanceof RunError ? error.usage : null);
    return { ...result, judgeUsage, judgeCost: chargeOf(judge, judgeUsage) };
  }
}

const allOmitted = (known: Facts['omittedAssets'], more: readonly string[]): Facts['omittedAssets'] =>
  more.length === 0 ? known : [...new Set([...(known ?? []), ...more])];

/**
 * Runs the check, or asks the judge.
 *
 * @throws RunError `checker_invalid` for invalid options of the checker, `checker_limit` if the check would take too
 * much time or memory; the signal's reason when it is aborted
 */
export async function performCheck(
  plan: CheckPlan,
  deps: {
    readonly judge: Judge | null;
    readonly checks: CheckRunner;
    readonly files?: MarkedFiles | undefined;
  },
  signal: AbortSignal,
): Promise<CheckOutcome> {
  if ('outcome' in plan) return plan.outcome;
  if ('task' in plan) return await deps.checks.run(plan.task, signal);
  return await askJudge(deps.judge, plan.question, deps.files, signal);
}

function isLongText(output: JsonValue | JsonText): boolean {
  return typeof output === 'string' && output.length > MAX_INLINE_TEXT_CHARS;
}

export type StoredScoring = NonNullable<ReturnType<typeof storedScoring>>;

/** Scorers of each kind. */
const MAX_SCORERS = 16;

/** What a stored configuration says of scoring, without checking the rest; null for a configuration of another tool. */
export function storedScoring(config: JsonObject) {
  const { provider = null, judge, reasoning, scorers = [], added_scorers: added = [] } = config;
  const isObject = (value: JsonValue | undefined): boolean => value === undefined || isJsonObject(value);
  const areScorers = [scorers, added].every(
    (list) =>
      Array.isArray(list) &&
      list.length <= MAX_SCORERS &&
      list.every((one) => isJsonObject(one) && typeof one['name'] === 'string' && isObject(one['judge'])),
  );
  const type = isJsonObject(provider) ? provider['type'] : undefined;
  if (!areScorers || !isObject(judge) || typeof type !== 'string') return null;
  const plans: readonly ScorerPlan[] = scorersOf(config as unknown as RunConfig);
  return {
    plans,
    reasoning: reasoning === 'score' ? ('score' as const) : ('strip' as const),
    isExternal: type === 'external',
  };
}

interface StoredCheck {
  readonly parts: ItemParts;
  readonly output: JsonValue;
  /** Reasoning that came beside it; null without any. */
  readonly thoughts: string | null;
  readonly reasoning: ReasoningMode;
  /** The dataset's default prompts; null without them. */
  readonly defaultPrompts: JsonValue;
}

/**
 * What a scorer says of a stored output, as {@link scoreOutput} does, on the calling thread and without a judge.
 *
 * @returns null if the judge decides
 */
export function recheckOutput(
  { parts, output, thoughts, reasoning, defaultPrompts }: StoredCheck,
  { checker, judge }: Pick<ScorerPlan, 'checker' | 'judge'>,
): ScorerScore | null {
  try {
    const item = readItem(withChecker(parts, checker));
    let plan: CheckPlan;
    try {
      const beside = judge === null ? null : thoughts;
      plan = planCheck({ output, item, reasoning, thoughts: beside, judge: judge && { defaultPrompts } });
    } catch (error) {
      if (judge !== null && error instanceof RunError) return null;
      throw error;
    }
    if ('question' in plan) return null;
    const { status, score, passed, explanation } = 'task' in plan ? runCheck(plan.task) : plan.outcome;
    return { score, passed, explanation, scored_by: status === 'ok' ? 'checker' : null };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const { code, message } = error;
    return { score: null, passed: null, explanation: null, scored_by: null, error: { code, message } };
  }
}
