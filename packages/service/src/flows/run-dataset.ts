import type { JsonValue } from '@svc/jsonl-v23/json';
import { forEachConcurrently } from '../concurrency/index.ts';
import {
  type CheckRunner,
  type EarlierAnswer,
  type FindAnswer,
  type Provider,
  promptsOf,
  type RedactDeps,
  type RunClock,
  type RunConfig,
  type RunEnd,
  RunError,
  type RunErrorCode,
  type RunItem,
  type RunResult,
  type RunSession,
  reasoningOf,
  redactResult,
  runItem,
  type Scorer,
  type Scorers,
  scorersOf,
  toFailure,
} from '../evaluation/index.ts';
import { type BudgetState, createBudget } from './run/budget.ts';
import type { Turns } from './run/turns.ts';

/** Hashes of one query. */
const MAX_HASHES = 64;

interface Wanted {
  readonly hash: Uint8Array;
  readonly found: (answer: EarlierAnswer | null) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Looks for answers with one query at a time: the first hash is looked up immediately, and hashes that arrive during a
 * query are looked up together by the next one.
 */
function createAnswerFinder(
  findAnswers: NonNullable<RunSession['findAnswers']>,
  signal: AbortSignal,
): FindAnswer {
  const waiting: Wanted[] = [];
  let isLooking = false;

  const look = async (): Promise<void> => {
    isLooking = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_HASHES);
      try {
        const answers = await findAnswers(
          batch.map(({ hash }) => hash),
          signal,
        );
        for (const [index, { found }] of batch.entries()) found(answers[index] ?? null);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    isLooking = false;
  };

  return (hash) =>
    new Promise((found, failed) => {
      waiting.push({ hash, found, failed });
      if (!isLooking) void look();
    });
}

/** Results that may wait for the store before the next item starts. */
const MAX_WAITING_RESULTS = 64;

export interface RunDatasetDeps extends Pick<RedactDeps, 'secrets'> {
  readonly session: RunSession;
  readonly provider: Provider;
  /** The judge models, by the names of their scorers. */
  readonly judges: ReadonlyMap<string, Provider>;
  readonly checks: CheckRunner;
  readonly clock: RunClock;
  /** Turns between the items, so that runs whose items begin or end together leave time for requests. */
  readonly turns: Turns;
}

export interface RunDatasetOptions {
  readonly config: RunConfig;
  /** What the run has spent before, and on how many results. */
  readonly before: Omit<BudgetState, 'maxCost'>;
  /** `default_judge_prompts` of the dataset's package; null without them. */
  readonly defaultJudgePrompts: JsonValue;
  /**
   * Aborted with `runCancelled()`, the run ends as `cancelled`. Aborted for any other reason, such as a worker that
   * stops, the run does not end, and another worker continues it.
   */
  readonly signal: AbortSignal;
}

/**
 * Runs the items of a dataset: items without a result → provider → checker → store, with limited concurrency. Each
 * result is stored as soon as it exists and stays, however the run ends, so that an interrupted run continues where it
 * stopped. Requests that an earlier run has asked take its answers. A provider that fails to answer a number of items
 * in a row ends the run as failed; one that costs more than the run may, as stopped.
 *
 * Memory holds the items in progress and a limited number of results.
 *
 * @returns how the run ended, after the session has stored it
 * @throws what the store throws, and the signal's reason unless it is a cancellation: the run has not ended then
 */
export async function runDataset(deps: RunDatasetDeps, options: RunDatasetOptions): Promise<RunEnd> {
  const { session, provider, checks, clock, turns } = deps;
  const { config, signal } = options;
  const scorers = toScorers(config, deps.judges, options.defaultJudgePrompts, session.scorers);
  const scoring = { prompts: promptsOf(config), scorers };
  const findAnswer =
    session.findAnswers === undefined ? undefined : createAnswerFinder(session.findAnswers, signal);
  const itemDeps = { checks, clock, readFile: session.readAsset, findAnswer };
  const budget = createBudget({ ...options.before, maxCost: config.max_cost?.amount ?? null }, clock);
  const results = createResultWriter((batch) => session.saveResults(batch), MAX_WAITING_RESULTS);

  const checkOutage = createOutageDetector(config.max_consecutive_failures);
  let end: RunEnd = { status: 'completed' };
  try {
    await forEachConcurrently(
      repetitionsToDo(session.items(signal), config.repetitions),
      { concurrency: config.concurrency, signal },
      async ({ item, repetition }, itemSignal) => {
        await turns.take();
        using account = budget.open();
        const charged = ({ judge, ...scorer }: Scorer): Scorer => ({
          ...scorer,
          judge: judge && {
            ...judge,
            provider: account.charge(judge.provider, judge.price),
          },
        });
        const scored = await runItem(
          { ...itemDeps, provider: account.charge(provider, config.price ?? null) },
          item,
          repetition,
          {
            ...scoring,
            scorers: { ...scorers, main: charged(scorers.main), others: scorers.others.map(charged) },
          },
          itemSignal,
        );
        const result = await redactResult(scored, deps, itemSignal);
        await results.write({ ...result, cost: account.close() });
        if (result.endsRun !== undefined) throw result.endsRun;
        // Existing outputs need no provider: earlier failures say nothing about it.
        if (item.outputs === undefined) checkOutage(result);
      },
    );
  } catch (error) {
    await results.flush();
    if (!(error instanceof RunError)) throw error;
    if (error.code === 'run_cancelled') end = { status: 'cancelled' };
    else if (error.code === 'budget_spent') end = { status: 'stopped', error: toFailure(error) };
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
): AsyncGenerator<{ readonly item: RunItem; readonly repetition: number }> {
  for await (const item of items) {
    if (item.outputs !== undefined) {
      for (const { repetition } of item.outputs) yield { item, repetition };
      continue;
    }
    for (let repetition = 1; repetition <= repetitions; repetition += 1) {
      if (!item.doneRepetitions.includes(repetition)) yield { item, repetition };
    }
  }
}

/**
 * Makes a detector of providers that stopped responding. Results whose provider gave no answer count; an answer begins the
 * count again. An item that was not sent, such as one without a prompt, does neither.
 *
 * @returns a function that counts a result, and throws RunError with `endsRun` and its error if it is one too many in a row
 */
function createOutageDetector(maxFailures: number): (result: RunResult) => void {
  let failures = 0;
  return ({ error, output }) => {
    if (output !== null) failures = 0;
    else if (error?.code.startsWith('provider_') === true) failures += 1;
    if (error === null || failures < maxFailures) return;
    const message = `${maxFailures} items in a row got no answer. The last error: ${error.message}`;
    const { provider_message: providerMessage = null } = error;
    throw new RunError(error.code as RunErrorCode, message, { endsRun: true, providerMessage });
  };
}

/**
 * Makes a writer with one call of `save` at a time: the first result is saved immediately, and the results that arrive
 * during a call are saved together by the next one. So a slow run stores each result immediately, and a fast one stores
 * many per transaction, without a timer.
 */
export function createResultWriter(
  save: (results: readonly RunResult[]) => Promise<void>,
  maxWaiting: number,
) {
  let waiting: RunResult[] = [];
  let saving: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  const saveWaiting = async (): Promise<void> => {
    try {
      while (waiting.length > 0) {
        const results = waiting;
        waiting = [];
        await save(results);
      }
    } catch (error) {
      failure = { error };
    } finally {
      saving = undefined;
    }
  };
  const settle = async (enough: () => boolean): Promise<void> => {
    while (saving !== undefined && !enough()) await saving;
    if (failure !== undefined) throw failure.error;
  };

  return {
    /**
     * Adds a result. Resolves when the next one may be added, which can be before this one is stored; rejects once a
     * write has failed.
     */
    async write(result: RunResult): Promise<void> {
      if (failure !== undefined) throw failure.error;
      waiting.push(result);
      saving ??= saveWaiting();
      await settle(() => waiting.length < maxWaiting);
    },
    /** Resolves when every result so far is stored. */
    flush: () => settle(() => false),
  };
}

/**
 * The scorers of a run's outputs.
 *
 * @param judges by the names of their scorers
 * @param defaultPrompts `default_judge_prompts` of the dataset; null without them
 * @param names of the wanted ones, the first in place of the main one; absent for all
 */
export function toScorers(
  config: Pick<RunConfig, 'checker' | 'checker_mode' | 'judge' | 'scorers' | 'added_scorers' | 'reasoning'>,
  judges: ReadonlyMap<string, Provider>,
  defaultPrompts: JsonValue,
  names?: readonly string[],
): Scorers {
  const reasoning = reasoningOf(config);
  const toScorer = ({ name, checker, judge }: ReturnType<typeof scorersOf>[0]): Scorer => {
    const provider = judges.get(name);
    const threshold = judge?.threshold ?? 0.5;
    const price = judge?.price ?? null;
    const asked = provider === undefined ? null : { provider, threshold, defaultPrompts, price };
    return { name, checker, judge: asked, reasoning };
  };
  const [main, ...others] = scorersOf(config);
  const [first, ...rest] = [main, ...others].filter(({ name }) => names?.includes(name));
  if (first !== undefined) return { main: toScorer(first), others: rest.map(toScorer), areNamed: true };
  return { main: toScorer(main), others: others.map(toScorer), areNamed: config.scorers !== undefined };
}
