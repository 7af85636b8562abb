import type { ItemParts } from '@svc/jsonl-v23/internal';
import { getMember, type JsonValue } from '@svc/jsonl-v23/json';
import type { CheckOutcome, Judge } from './checkers/checker.ts';
import { buildMessages } from './item/build-messages.ts';
import { readCanonicalText } from './item/canonical-text.ts';
import { isLargeItem, MAX_INLINE_TEXT_CHARS, readItem } from './item/large-item.ts';
import {
  JsonText,
  type Provider,
  type RunClock,
  type RunFailure,
  type RunItem,
  type RunResult,
} from './ports.ts';
import { RunError } from './run-error.ts';
import { checkOutput } from './scoring/check-output.ts';
import { packValue } from './scoring/check-task.ts';
import { askJudge } from './scoring/judge.ts';
import type { CheckRunner } from './threads/check-runner.ts';
import { packOutput, readOutput } from './threads/item-task.ts';

/** What one repetition of an item is done with. */
export interface RunItemPorts {
  readonly provider: Provider;
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly clock: RunClock;
  /** hears of an error that is no fault of the item or its provider */
  readonly onInternalError?: ((error: unknown) => void) | undefined;
}

type Output = RunResult['output'];

/** What came of asking for an output, and how it can be scored. */
interface Answered {
  readonly itemId: JsonValue;
  readonly answer:
    | { readonly output: Output; readonly usage: RunResult['usage'] }
    | { readonly error: unknown };
  /** scores the output where the item is read already; otherwise a thread does */
  readonly score?: (output: JsonValue) => Promise<CheckOutcome>;
}

/**
 * Does one repetition of one item: messages, answer, score. What goes wrong with this item becomes its
 * result, `failed`. A large item is read on a thread.
 *
 * @throws RunError with `endsRun` when it would go wrong with every item; the signal's reason when it was
 * aborted
 */
export async function runItem(
  ports: RunItemPorts,
  { parts, ...location }: RunItem,
  repetition: number,
  signal: AbortSignal,
): Promise<RunResult> {
  const base = {
    section: location.section,
    sectionOrderIndex: location.sectionOrderIndex,
    orderIndex: location.orderIndex,
    repetition,
  };
  const failed = (
    itemId: JsonValue,
    error: unknown,
    output: Output,
    rest: Pick<RunResult, 'latencyMs' | 'usage'>,
  ): RunResult => {
    signal.throwIfAborted();
    if (error instanceof RunError && error.endsRun) throw error;
    if (!(error instanceof RunError)) ports.onInternalError?.(error);
    return {
      ...base,
      itemId,
      status: 'failed',
      output,
      score: null,
      passed: null,
      explanation: null,
      error: toFailure(error),
      ...rest,
    };
  };

  if (parts === null) {
    const { code, message } = location.failure ?? { code: 'internal', message: 'The item cannot be read' };
    return failed(null, new RunError(code, message), null, { latencyMs: null, usage: null });
  }

  const startMs = ports.clock.nowMs();
  const { itemId, answer, score } = await (isLargeItem(parts) ? answerLarge : answerSmall)(
    ports,
    parts,
    signal,
  );
  if ('error' in answer) return failed(itemId, answer.error, null, { latencyMs: null, usage: null });
  const { output, usage } = answer;
  const latencyMs = ports.clock.nowMs() - startMs;

  try {
    const outcome =
      score === undefined || output instanceof JsonText || isLongText(output)
        ? await scoreOnThread(ports, parts, output, signal)
        : await score(output);
    return { ...base, itemId, ...outcome, output, error: null, latencyMs, usage };
  } catch (error) {
    return failed(itemId, error, output, { latencyMs, usage });
  }
}

async function answerSmall(
  { provider, judge, checks }: RunItemPorts,
  parts: ItemParts,
  signal: AbortSignal,
): Promise<Answered> {
  let itemId: JsonValue = null;
  try {
    const item = readItem(parts);
    itemId = getMember(item, 'id') ?? null;
    const messages = provider.usesMessages ? buildMessages(item) : [];
    const answer = await provider.answer({ item, messages }, signal);
    return {
      itemId,
      answer,
      score: (output) => checkOutput({ output, item, judge, checks, signal }),
    };
  } catch (error) {
    return { itemId, answer: { error } };
  }
}

async function answerLarge(
  { provider, checks }: RunItemPorts,
  parts: ItemParts,
  signal: AbortSignal,
): Promise<Answered> {
  const { usesMessages, outputSource = null } = provider;
  let itemId: JsonValue = null;
  try {
    const question = await checks.run({ kind: 'question', parts, usesMessages, outputSource }, signal);
    itemId = question.itemId === null ? null : readCanonicalText(question.itemId);
    if (question.failure !== undefined) throw new RunError(question.failure.code, question.failure.message);
    if (question.output !== undefined)
      return { itemId, answer: { output: readOutput(question.output), usage: null } };
    const request = { item: {}, messages: [], messagesJson: question.messagesJson };
    return { itemId, answer: await provider.answer(request, signal) };
  } catch (error) {
    return { itemId, answer: { error } };
  }
}

async function scoreOnThread(
  { judge, checks }: RunItemPorts,
  parts: ItemParts,
  output: Output,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const scored = await checks.run(
    {
      kind: 'score',
      parts,
      output: packOutput(output),
      judge: judge === null ? null : { defaultPrompts: packValue(judge.defaultPrompts) },
    },
    signal,
  );
  return 'outcome' in scored ? scored.outcome : await askJudge(judge, scored.judgeMessagesJson, signal);
}

function isLongText(output: JsonValue): boolean {
  return typeof output === 'string' && output.length > MAX_INLINE_TEXT_CHARS;
}

/** What people are told of an error; of one that is no fault of the item, no more than that. */
export function toFailure(error: unknown): RunFailure {
  if (error instanceof RunError) return { code: error.code, message: error.message };
  return { code: 'internal', message: 'Something went wrong on the side of the service' };
}
