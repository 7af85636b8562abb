import { RunError } from './run-error.ts';
import type { RunFailure, RunItem, RunResult } from './run-session.ts';

const WITHOUT_SCORE = {
  ...{ score: null, passed: null, explanation: null, scoredBy: null, scores: null },
  ...{ judgeUsage: null, judgeCost: null },
} as const;

/** What is known of a result before it is scored. */
export type Facts = Omit<RunResult, keyof typeof WITHOUT_SCORE | 'status' | 'error' | 'cause' | 'endsRun'>;

export function nothingOf({ section, sectionOrderIndex, orderIndex }: RunItem, repetition: number): Facts {
  return {
    ...{ section, sectionOrderIndex, orderIndex, repetition },
    ...{ itemId: null, output: null, reasoning: null, latencyMs: null, usage: null },
    ...{ finishReason: null, attempts: null, omittedAssets: null, traceId: null },
    ...{ reused: false, usageReused: null, redacted: 0 },
  };
}

export const UNREADABLE: RunFailure = { code: 'internal', message: 'Cannot read the item.' };

/** @throws the error if it ends the run before anybody was asked; the signal's reason when it is aborted */
export function failed(facts: Facts, error: unknown, signal: AbortSignal): RunResult {
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

export function failedWith(facts: Facts, error: RunFailure): RunResult {
  return { ...facts, ...WITHOUT_SCORE, status: 'failed', error };
}

/** An error as a result or a run stores it. The message says nothing about internal errors. */
export function toFailure(error: unknown): RunFailure {
  if (!(error instanceof RunError)) return { code: 'internal', message: 'Internal error.' };
  const { code, message, providerMessage } = error;
  return { code, message, ...(providerMessage !== null && { provider_message: providerMessage }) };
}
