import { markFiles } from './assets/marked-files.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import { type PreparedItem, prepareItem } from './prepare-item.ts';
import type { Completion, Provider } from './provider.ts';
import { failed, failedWith, nothingOf, UNREADABLE } from './result-facts.ts';
import { RunError } from './run-error.ts';
import type { EarlierAnswer, RunFailure, RunItem, RunResult } from './run-session.ts';
import { type ScoreOutputDeps, type Scorers, scoreAll, scoreOutput } from './score-output.ts';

export interface RunClock {
  nowMs(): number;
}

/** Finds the response that an earlier run got to a request with this hash; null if it has no answer. */
export type FindAnswer = (requestHash: Uint8Array, signal: AbortSignal) => Promise<EarlierAnswer | null>;

export interface RunItemDeps extends ScoreOutputDeps {
  readonly provider: Provider;
  /** Absent if every item is asked. */
  readonly findAnswer?: FindAnswer | undefined;
  readonly clock: RunClock;
}

/**
 * Does one repetition of one item: messages, completion, score. An error of the item becomes its result, `failed`. A
 * thread reads a large item. An item that brings its outputs is only scored.
 *
 * @throws RunError with `endsRun` if every item would fail in the same way; the signal's reason when it is aborted
 */
export async function runItem(
  deps: RunItemDeps,
  item: RunItem,
  repetition: number,
  { prompts, scorers }: { readonly prompts: RunPrompts; readonly scorers: Scorers },
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
  const marked = markFiles(item.parts, item.linkedFiles, deps.readFile);
  const startMs = deps.clock.nowMs();
  // A provider that looks into the item itself sees the stored texts.
  const parts = deps.provider.usesMessages ? marked.parts : item.parts;
  const { asked, ...known } = await prepareItem(deps, parts, marked.files, prompts, signal);
  let completed: Awaited<ReturnType<typeof complete>>;
  try {
    completed = await complete(deps, asked, repetition, signal);
  } catch (error) {
    const usage = error instanceof RunError ? error.usage : null;
    return failed({ ...nothing, ...known, usage }, error, signal);
  }
  const { completion, requestHash } = completed;
  if ('earlier' in completion) {
    const { usage: usageReused, ...answer } = completion.earlier;
    const facts = { ...nothing, ...known, ...answer, reused: true, usageReused };
    return reusable(await scoreAll(deps, marked, facts, scorers, signal), requestHash);
  }
  const { pacedMs = 0, answers: _, ...answer } = completion;
  const latencyMs = Math.max(0, Math.round((deps.clock.nowMs() - startMs - pacedMs) * 10) / 10);
  const facts = { ...nothing, ...known, latencyMs, ...answer };
  return reusable(await scoreAll(deps, marked, facts, scorers, signal), requestHash);
}

/** Marks a result with its request, unless it failed or was cut: such an output is asked for again. */
function reusable(result: RunResult, requestHash: Uint8Array | null): RunResult {
  return result.status === 'failed' || result.finishReason === 'length' ? result : { ...result, requestHash };
}

/** The scorers that have not scored an output yet; null if all have. */
function scorersDue({ main, others, areNamed }: Scorers, have: readonly string[]): Scorers | null {
  const [first, ...rest] = [main, ...others].filter(({ name }) => !have.includes(name));
  return first === undefined ? null : { main: first, others: rest, areNamed };
}

const NO_OUTPUT: RunFailure = { code: 'internal', message: 'There is no output to score.' };

/** What the provider answers, what an earlier run got to the same request, or what the item holds. */
async function complete(
  { provider, findAnswer }: Pick<RunItemDeps, 'provider' | 'findAnswer'>,
  asked: PreparedItem['asked'],
  repetition: number,
  signal: AbortSignal,
) {
  if ('error' in asked) throw asked.error;
  if ('output' in asked) {
    const completion: Completion = { output: asked.output, usage: null, finishReason: null, attempts: null };
    return { completion, requestHash: null };
  }
  const requestHash = (await provider.hashRequest?.(asked.request, repetition)) ?? null;
  const earlier = requestHash === null ? null : ((await findAnswer?.(requestHash, signal)) ?? null);
  const completion = earlier === null ? await provider.complete(asked.request, signal) : { earlier };
  return { completion, requestHash };
}
