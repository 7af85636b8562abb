import type { ItemParts } from '@svc/jsonl-v23/internal';
import { getMember, type JsonValue } from '@svc/jsonl-v23/json';
import { checkOutput } from './check-output.ts';
import type { CheckOutcome } from './checkers/checker.ts';
import { buildMessages } from './item/build-messages.ts';
import { readCanonicalText } from './item/canonical-text.ts';
import { isLargeItem, MAX_INLINE_TEXT_CHARS, readItem } from './item/large-item.ts';
import { JsonText } from './json-text.ts';
import type { Completion, Provider } from './provider.ts';
import { RunError } from './run-error.ts';
import type { RunFailure, RunItem, RunResult } from './run-session.ts';
import { askJudge, type Judge } from './scoring/ask-judge.ts';
import { packValue, unpackSmall } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

/** A monotonic clock. */
export interface RunClock {
  nowMs(): number;
}

export interface RunItemDeps {
  readonly provider: Provider;
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly clock: RunClock;
}

/** An item with its completion or the error of it, and how to score its output. */
interface CompletedItem {
  readonly itemId: JsonValue;
  readonly completion: Completion | { readonly error: unknown };
  /** Scores an output if the item has been read; otherwise a thread does. */
  readonly score?: (output: JsonValue) => Promise<CheckOutcome>;
}

/**
 * Does one repetition of one item: messages, completion, score. An error of the item becomes its result, `failed`. A
 * thread reads a large item.
 *
 * @throws RunError with `endsRun` if every item would fail in the same way; the signal's reason when it is aborted
 */
export async function runItem(
  deps: RunItemDeps,
  { parts, ...item }: RunItem,
  repetition: number,
  signal: AbortSignal,
): Promise<RunResult> {
  const { section, sectionOrderIndex, orderIndex } = item;
  const base = { section, sectionOrderIndex, orderIndex, repetition };
  const failed = (
    itemId: JsonValue,
    error: unknown,
    known: Pick<RunResult, 'output' | 'latencyMs' | 'usage'>,
  ): RunResult => {
    signal.throwIfAborted();
    if (error instanceof RunError && error.endsRun) throw error;
    const outcome = { status: 'failed', score: null, passed: null, explanation: null } as const;
    return {
      ...base,
      itemId,
      ...outcome,
      error: toFailure(error),
      ...known,
      ...(error instanceof RunError ? {} : { cause: error }),
    };
  };
  const nothing = { output: null, latencyMs: null, usage: null };

  if (parts === null) {
    const { code, message } = item.failure ?? { code: 'internal', message: 'Cannot read the item.' };
    return failed(null, new RunError(code, message), nothing);
  }

  const startMs = deps.clock.nowMs();
  const complete = isLargeItem(parts) ? completeLarge : completeSmall;
  const { itemId, completion, score } = await complete(deps, parts, signal);
  if ('error' in completion) return failed(itemId, completion.error, nothing);
  const { output, usage } = completion;
  // Fractions of a microsecond are noise.
  const latencyMs = Math.round((deps.clock.nowMs() - startMs) * 1000) / 1000;

  try {
    const outcome =
      score === undefined || output instanceof JsonText || isLongText(output)
        ? await scoreOnThread(deps, parts, output, signal)
        : await score(output);
    return { ...base, itemId, ...outcome, output, error: null, latencyMs, usage };
  } catch (error) {
    return failed(itemId, error, { output, latencyMs, usage });
  }
}

async function completeSmall(
  { provider, judge, checks }: RunItemDeps,
  parts: ItemParts,
  signal: AbortSignal,
): Promise<CompletedItem> {
  let itemId: JsonValue = null;
  try {
    const item = readItem(parts);
    itemId = getMember(item, 'id') ?? null;
    const messages = provider.usesMessages ? buildMessages(item) : [];
    const completion = await provider.complete({ item, messages }, signal);
    return {
      itemId,
      completion,
      score: (output) => checkOutput({ output, item, judge, checks, signal }),
    };
  } catch (error) {
    return { itemId, completion: { error } };
  }
}

async function completeLarge(
  { provider, checks }: RunItemDeps,
  parts: ItemParts,
  signal: AbortSignal,
): Promise<CompletedItem> {
  const { usesMessages, outputSource = null } = provider;
  let itemId: JsonValue = null;
  try {
    const question = await checks.run({ kind: 'question', parts, usesMessages, outputSource }, signal);
    itemId = question.itemId === null ? null : readCanonicalText(question.itemId);
    if (question.failure !== undefined) throw new RunError(question.failure.code, question.failure.message);
    if (question.output !== undefined) {
      return { itemId, completion: { output: unpackSmall(question.output), usage: null } };
    }
    const request = { item: {}, messages: [], messagesJson: question.messagesJson };
    return { itemId, completion: await provider.complete(request, signal) };
  } catch (error) {
    return { itemId, completion: { error } };
  }
}

async function scoreOnThread(
  { judge, checks }: RunItemDeps,
  parts: ItemParts,
  output: RunResult['output'],
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const scored = await checks.run(
    {
      kind: 'score',
      parts,
      output: packValue(output),
      judge: judge === null ? null : { defaultPrompts: packValue(judge.defaultPrompts) },
    },
    signal,
  );
  return 'outcome' in scored ? scored.outcome : await askJudge(judge, scored.judgeMessagesJson, signal);
}

function isLongText(output: JsonValue): boolean {
  return typeof output === 'string' && output.length > MAX_INLINE_TEXT_CHARS;
}

/** An error as a result or a run stores it. The message says nothing about internal errors. */
export function toFailure(error: unknown): RunFailure {
  if (error instanceof RunError) return { code: error.code, message: error.message };
  return { code: 'internal', message: 'Internal error.' };
}
