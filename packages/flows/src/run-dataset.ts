import {
  type CheckRunner,
  type Judge,
  type Provider,
  plainText,
  type RunClock,
  type RunConfig,
  type RunEnd,
  RunError,
  type RunItem,
  type RunSession,
  runItem,
  toFailure,
} from '@svc/evaluation';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { forEachConcurrently } from './for-each-concurrently.ts';
import { createResultWriter } from './write-results.ts';

/** Results that may wait for the store before the next item is begun. */
const MAX_WAITING_RESULTS = 64;

/** Everything a run touches. */
export interface RunPorts {
  readonly session: RunSession;
  readonly provider: Provider;
  /** the judge model; null where the run has none */
  readonly judge: Provider | null;
  /** does the work of checkers on foreign content */
  readonly checks: CheckRunner;
  readonly clock: RunClock;
}

/** How a run is done. */
export interface RunOptions {
  readonly config: Pick<RunConfig, 'repetitions' | 'concurrency' | 'judge'>;
  /** `default_judge_prompts` of the dataset's package, null where it has none */
  readonly defaultJudgePrompts: JsonValue;
  /**
   * Aborted with {@link runCancelled} as its reason, the run ends `cancelled`. Aborted with any other reason,
   * such as a worker that has to stop, the run stays as it is, and another worker goes on with it.
   */
  readonly signal: AbortSignal;
  /** called for an error that is no fault of an item or its provider, so that somebody hears of it */
  readonly onInternalError?: ((error: unknown) => void) | undefined;
}

/**
 * Runs the items of a dataset: items without a result → provider → checker → store, with bounded concurrency.
 * A result is written as soon as it is there and stays, however the run ends; so a run that was interrupted
 * goes on where it stopped.
 *
 * Memory holds as many items as are under way and a bounded number of results.
 *
 * @returns how the run ended, after the session was told
 * @throws what the store throws, and the signal's reason when it is not a cancellation: the run has not ended
 * then
 */
export async function executeRun(ports: RunPorts, options: RunOptions): Promise<RunEnd> {
  const { session, provider, checks, clock } = ports;
  const { config, signal } = options;
  const judge = judgeOf(ports.judge, options);
  const results = createResultWriter((batch) => session.saveResults(batch), MAX_WAITING_RESULTS);

  let end: RunEnd = { status: 'completed' };
  try {
    const tasks = repetitionsToDo(session.items(signal), config.repetitions);
    await forEachConcurrently(
      tasks,
      { concurrency: config.concurrency, signal },
      async (task, taskSignal) => {
        const itemPorts = { provider, judge, checks, clock, onInternalError: options.onInternalError };
        await results.write(await runItem(itemPorts, task.item, task.repetition, taskSignal));
      },
    );
  } catch (error) {
    await results.flush();
    if (!(error instanceof RunError)) throw error;
    if (error.code === 'run_cancelled') end = { status: 'cancelled' };
    else if (error.endsRun) end = { status: 'failed', error: toFailure(error) };
    else throw error;
  }
  await results.flush();
  await session.finish(end);
  return end;
}

async function* repetitionsToDo(
  items: AsyncIterable<RunItem>,
  repetitions: number,
): AsyncGenerator<{ item: RunItem; repetition: number }> {
  for await (const item of items) {
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      if (!item.doneRepetitions.includes(repetition)) yield { item, repetition };
    }
  }
}

function judgeOf(provider: Provider | null, options: RunOptions): Judge | null {
  if (provider === null) return null;
  return {
    threshold: options.config.judge?.threshold ?? 0.5,
    defaultPrompts: options.defaultJudgePrompts,
    async ask(messages, signal) {
      const request =
        messages instanceof Uint8Array
          ? { item: {}, messages: [], messagesJson: messages }
          : { item: {}, messages };
      const { output } = await provider.answer(request, signal);
      return plainText(output);
    },
  };
}
