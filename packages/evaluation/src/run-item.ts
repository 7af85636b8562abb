import type { ItemParts, ScorerScore } from '@svc/jsonl-v23/internal';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { type MarkedFiles, markFiles, type ReadFile } from './assets/marked-files.ts';
import { performCheck, planOutput, type ScorePlan } from './check-output.ts';
import { type CompleteItemDeps, completeItem } from './complete-item.ts';
import { isLargeItem, MAX_INLINE_TEXT_CHARS, readItem } from './item/large-item.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import { type RunChecker, withChecker } from './item/with-checker.ts';
import { JsonText } from './json-text.ts';
import { RunError } from './run-error.ts';
import type { RunFailure, RunItem, RunResult, StoredOutput } from './run-session.ts';
import type { Judge } from './scoring/ask-judge.ts';
import { packValue } from './scoring/packed-value.ts';
import { costOf } from './statistics/run-cost.ts';
import { tokenCounts } from './token-counts.ts';

/** A monotonic clock. */
export interface RunClock {
  nowMs(): number;
}

export interface RunItemDeps extends CompleteItemDeps {
  readonly readFile: ReadFile;
  readonly clock: RunClock;
}

/** What scores outputs. */
export interface Scorer {
  readonly name: string;
  readonly checker: RunChecker | null;
  readonly judge: Judge | null;
}

/** The scorers of a run: that of `score` and the others. */
export interface Scorers {
  readonly main: Scorer;
  readonly others: readonly Scorer[];
  /** Whether `scores` has the main one too. */
  readonly areNamed: boolean;
}

/** What a run states for all of its items. */
export interface RunItemOptions {
  readonly prompts: RunPrompts;
  readonly scorers: Scorers;
}

/** What scores an output that is there. */
export type ScoreOutputDeps = Pick<RunItemDeps, 'checks' | 'readFile'>;

/** What is known of a result before it is scored. */
type Facts = Omit<
  RunResult,
  | 'status'
  | 'score'
  | 'passed'
  | 'explanation'
  | 'error'
  | 'judgeUsage'
  | 'judgeCost'
  | 'cause'
  | 'endsRun'
  | 'scoredBy'
  | 'scores'
>;

/**
 * Does one repetition of one item: messages, completion, score. An error of the item becomes its result, `failed`. A
 * thread reads a large item. An item that brings its outputs along is only scored.
 *
 * @throws RunError with `endsRun` if every item would fail in the same way; the signal's reason when it is aborted
 */
export async function runItem(
  deps: RunItemDeps,
  item: RunItem,
  repetition: number,
  { prompts, scorers }: RunItemOptions,
  signal: AbortSignal,
): Promise<RunResult> {
  const nothing = nothingOf(item, repetition);
  if (item.outputs !== undefined) {
    const stored = item.outputs.find((one) => one.repetition === repetition);
    if (stored === undefined) return failedWith(nothing, NO_OUTPUT);
    const due = scorersDue(scorers, stored.scoredBy ?? []);
    return due === null ? failedWith(nothing, NO_OUTPUT) : await scoreOutput(deps, item, stored, due, signal);
  }
  if (item.parts === null) return failedWith(nothing, item.failure ?? UNREADABLE);
  const marked = markFiles(item.parts, item.linkedFiles ?? [], deps.readFile);
  const startMs = deps.clock.nowMs();
  // A provider that looks into the item itself sees the stored texts.
  const asked = withChecker(deps.provider.usesMessages ? marked.parts : item.parts, scorers.main.checker);
  const { completion, requestHash, ...known } = await completeItem(
    deps,
    asked,
    repetition,
    marked.files,
    prompts,
    signal,
  );
  if ('error' in completion) return failed({ ...nothing, ...known }, completion.error, signal);
  if ('earlier' in completion) {
    const { usage: usageReused, ...answer } = completion.earlier;
    const facts = { ...nothing, ...known, ...answer, reused: true, usageReused };
    return reusable(await scoreAll(deps, marked, facts, scorers, signal), requestHash);
  }
  const { pacedMs = 0, ...answer } = completion;
  const latencyMs = Math.max(0, Math.round((deps.clock.nowMs() - startMs - pacedMs) * 10) / 10);
  const facts = { ...nothing, ...known, latencyMs, ...answer };
  return reusable(await scoreAll(deps, marked, facts, scorers, signal), requestHash);
}

/** Marks a result with its request, unless it failed or was cut: such an output is asked for again. */
function reusable(result: RunResult, requestHash: Uint8Array | null): RunResult {
  return result.status === 'failed' || result.finishReason === 'length' ? result : { ...result, requestHash };
}

/**
 * Scores an output that is there, with its item. An error of the item becomes its result, `failed`.
 *
 * @throws as {@link runItem}
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
  const marked = markFiles(item.parts, item.linkedFiles ?? [], deps.readFile);
  return await scoreAll(deps, marked, facts, scorers, signal);
}

/** The scorers without those that have scored an output; null if all have. */
function scorersDue({ main, others, areNamed }: Scorers, have: readonly string[]): Scorers | null {
  const [first, ...rest] = [main, ...others].filter(({ name }) => !have.includes(name));
  return first === undefined ? null : { main: first, others: rest, areNamed };
}

/** Scores an output by every scorer. What goes wrong with another one than the main one is an error of its score. */
async function scoreAll(
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
    omittedAssets =
      scored.omittedAssets === null
        ? omittedAssets
        : [...new Set([...(omittedAssets ?? []), ...scored.omittedAssets])];
  }
  return { ...result, scores, judgeUsage, judgeCost, omittedAssets, ...(endsRun && { endsRun }) };
}

function scoreOf({ score, passed, explanation, scoredBy, error }: RunResult): ScorerScore {
  const said = { score, passed, explanation, scored_by: scoredBy };
  return error === null ? said : { ...said, error: { code: error.code, message: error.message } };
}

/** The tokens of several judges together. */
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

/** What several judges charged together. */
const addCost = (first: number | null, second: number | null): number | null =>
  first === null ? second : first + (second ?? 0);

/** What a judge charged for an answer; null without one, or without a price. */
function chargeOf(judge: Judge | null, usage: RunResult['judgeUsage']): number | null {
  const { input, output } = tokenCounts(usage);
  if (judge === null || judge.price === null || (input === null && output === null)) return null;
  return costOf(judge.price, input ?? 0, output ?? 0);
}

function nothingOf({ section, sectionOrderIndex, orderIndex }: RunItem, repetition: number): Facts {
  return {
    ...{ section, sectionOrderIndex, orderIndex, repetition },
    ...{ itemId: null, output: null, latencyMs: null, usage: null },
    ...{ finishReason: null, attempts: null, omittedAssets: null, traceId: null },
    ...{ reused: false, usageReused: null },
  };
}

const UNREADABLE: RunFailure = { code: 'internal', message: 'Cannot read the item.' };
const NO_OUTPUT: RunFailure = { code: 'internal', message: 'There is no output to score.' };

function factsOf({ failure: _, ...facts }: StoredOutput): Partial<Facts> {
  return facts;
}

async function score(
  deps: ScoreOutputDeps,
  { checker, judge }: Scorer,
  marked: { readonly parts: ItemParts; readonly files: MarkedFiles | undefined },
  facts: Facts,
  signal: AbortSignal,
): Promise<RunResult> {
  const { output } = facts;
  const parts = withChecker(marked.parts, checker);
  let known = facts;
  try {
    const plan =
      output instanceof JsonText || isLongText(output) || isLargeItem(parts)
        ? await planOnThread({ ...deps, judge }, parts, output, signal)
        : planOutput({ judge, output, item: readItem(parts) });
    if ('question' in plan) known = withOmitted(facts, plan.question.omittedAssets);
    const { judgeUsage = null, ...outcome } = await performCheck(plan, {
      ...deps,
      judge,
      files: marked.files,
      signal,
    });
    const scoredBy = outcome.status !== 'ok' ? null : 'question' in plan ? 'judge' : 'checker';
    const judgeCost = chargeOf(judge, judgeUsage);
    return { ...known, ...outcome, scoredBy, scores: null, judgeUsage, judgeCost, error: null };
  } catch (error) {
    const result = failed(known, error, signal);
    return { ...result, judgeCost: chargeOf(judge, result.judgeUsage) };
  }
}

/** Adds the assets that the judge was not sent. */
function withOmitted(facts: Facts, names: readonly string[]): Facts {
  if (names.length === 0) return facts;
  return { ...facts, omittedAssets: [...new Set([...(facts.omittedAssets ?? []), ...names])] };
}

async function planOnThread(
  { judge, checks }: Pick<ScoreOutputDeps, 'checks'> & Pick<Scorer, 'judge'>,
  parts: ItemParts,
  output: RunResult['output'],
  signal: AbortSignal,
): Promise<ScorePlan> {
  return await checks.run(
    {
      kind: 'score',
      parts,
      output: packValue(output),
      judge:
        judge === null
          ? null
          : {
              defaultPrompts: packValue(judge.defaultPrompts),
              wireFormat: judge.provider.wireFormat ?? 'chat_completions',
            },
    },
    signal,
  );
}

function isLongText(output: JsonValue): boolean {
  return typeof output === 'string' && output.length > MAX_INLINE_TEXT_CHARS;
}

/** @throws the error if it ends the run before anybody was asked; the signal's reason when it is aborted */
function failed(facts: Facts, error: unknown, signal: AbortSignal): RunResult {
  signal.throwIfAborted();
  if (!(error instanceof RunError)) return { ...failedWith(facts, toFailure(error)), cause: error };
  const { attempts, judgeUsage, endsRun } = error;
  if (endsRun && attempts === null) throw error;
  return {
    ...failedWith(facts, toFailure(error)),
    attempts: facts.attempts ?? attempts,
    judgeUsage,
    ...(endsRun && { endsRun: error }),
  };
}

function failedWith(facts: Facts, error: RunFailure): RunResult {
  const outcome = {
    status: 'failed',
    score: null,
    passed: null,
    explanation: null,
    scoredBy: null,
    scores: null,
  } as const;
  return { ...facts, ...outcome, judgeUsage: null, judgeCost: null, error };
}

/** An error as a result or a run stores it. The message says nothing about internal errors. */
export function toFailure(error: unknown): RunFailure {
  if (error instanceof RunError) return failureOf(error);
  return { code: 'internal', message: 'Internal error.' };
}

function failureOf({ code, message, providerMessage }: RunError): RunFailure {
  return { code, message, ...(providerMessage !== null && { provider_message: providerMessage }) };
}
