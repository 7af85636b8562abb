import { getMember, type JsonValue } from '@svc/jsonl-v23';
import { buildMessages } from './build-messages.ts';
import { checkOutput } from './checkers/check-output.ts';
import type { CheckRunner } from './checkers/check-runner.ts';
import type { Judge } from './checkers/checker.ts';
import type { Provider, ProviderAnswer, RunClock, RunFailure, RunItem, RunResult } from './ports.ts';
import { RunError } from './run-error.ts';

/** What one repetition of an item is done with. */
export interface RunItemPorts {
  readonly provider: Provider;
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly clock: RunClock;
  /** hears of an error that is no fault of the item or its provider */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/**
 * Does one repetition of one item: messages, answer, score. What goes wrong with this item becomes its
 * result, `failed`.
 *
 * @throws RunError with `endsRun` when it would go wrong with every item; the signal's reason when it was
 * aborted
 */
export async function runItem(
  ports: RunItemPorts,
  { item: readItem, ...place }: RunItem,
  repetition: number,
  signal: AbortSignal,
): Promise<RunResult> {
  const item = readItem ?? {};
  const base = {
    section: place.section,
    sectionOrderIndex: place.sectionOrderIndex,
    orderIndex: place.orderIndex,
    itemId: getMember(item, 'id') ?? null,
    repetition,
  };
  const failed = (
    error: unknown,
    output: JsonValue,
    rest: Pick<RunResult, 'latencyMs' | 'usage'>,
  ): RunResult => {
    signal.throwIfAborted();
    if (error instanceof RunError && error.endsRun) throw error;
    if (!(error instanceof RunError)) ports.onFault?.(error);
    return {
      ...base,
      status: 'failed',
      output,
      score: null,
      passed: null,
      explanation: null,
      error: toFailure(error),
      ...rest,
    };
  };

  if (readItem === null) {
    const { code, message } = place.failure ?? { code: 'internal', message: 'The item cannot be read' };
    return failed(new RunError(code, message), null, { latencyMs: null, usage: null });
  }

  const startMs = ports.clock.nowMs();
  let answer: ProviderAnswer;
  try {
    const messages = ports.provider.usesMessages ? buildMessages(item) : [];
    answer = await ports.provider.answer({ item, messages }, signal);
  } catch (error) {
    return failed(error, null, { latencyMs: null, usage: null });
  }
  const { output, usage } = answer;
  const latencyMs = ports.clock.nowMs() - startMs;

  try {
    const outcome = await checkOutput({ output, item, judge: ports.judge, checks: ports.checks, signal });
    return { ...base, ...outcome, output, error: null, latencyMs, usage };
  } catch (error) {
    return failed(error, output, { latencyMs, usage });
  }
}

/** What people are told of an error; of one that is no fault of the item, no more than that. */
export function toFailure(error: unknown): RunFailure {
  if (error instanceof RunError) return { code: error.code, message: error.message };
  return { code: 'internal', message: 'Something went wrong on the side of the service' };
}
