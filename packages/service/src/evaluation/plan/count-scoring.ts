import type { ItemParts } from '@svc/jsonl-v23';
import { isJsonObject } from '@svc/jsonl-v23/json';
import { mapOrdered } from '../../concurrency/index.ts';
import type { UnscorableReason } from '../checkers/checker.ts';
import { ConfigProblems } from '../config/config-problems.ts';
import { readCanonicalText } from '../item/canonical-text.ts';
import type { RunChecker } from '../item/large-item.ts';
import { RunError } from '../run-error.ts';
import { packValue } from '../scoring/packed-value.ts';
import type { CheckRunner } from '../threads/check-runner.ts';
import type { ScoringFacts } from '../threads/plan-task.ts';

/** How long patterns of items may be tried in total. */
const TRIES_MS = 5_000;
/** Batches that are read and decided at the same time. */
const BATCHES = 2;

export type PlanCounts = Awaited<ReturnType<typeof countScoring>>;

/** Counts how the items of a run would be scored, as workers do it: checkers decide on a thread, a batch at a time. */
export async function countScoring(
  batches: AsyncIterable<readonly ItemParts[]>,
  { judge, ...facts }: ScoringFacts,
  checks: Pick<CheckRunner, 'run'>,
  signal: AbortSignal,
) {
  const sums = { items: 0, scored: 0, judged: 0, chosen: 0, fromOne: 0 };
  let triesMs = TRIES_MS;
  const unscorable = new Map<UnscorableReason, number>();
  const packed = judge && { defaultPrompts: packValue(judge.defaultPrompts) };
  const planned = mapOrdered(batches, BATCHES, (batch) =>
    checks.run({ kind: 'plan', items: batch, triesMs, judge: packed, ...facts }, signal),
  );
  for await (const counts of planned) {
    for (const name of ['scored', 'judged', 'chosen', 'fromOne'] as const) sums[name] += counts[name];
    sums.items += counts.scored + counts.judged;
    triesMs -= counts.spentMs;
    for (const [reason, count] of counts.unscorable) {
      unscorable.set(reason, (unscorable.get(reason) ?? 0) + count);
      sums.items += count;
    }
  }
  const { chosen, fromOne, ...counts } = sums;
  // Answers may count the choices from 1 only if all do.
  return { ...counts, fromOne: fromOne === chosen ? fromOne : 0, unscorable };
}

/**
 * Compiles the pattern of a run's own `regex` checker on a thread.
 *
 * @throws RunError `invalid_request` if the pattern cannot be used
 */
export async function checkRunPattern(
  checker: RunChecker | null,
  path: string,
  checks: Pick<CheckRunner, 'run'>,
  signal: AbortSignal,
): Promise<void> {
  const options = checker === null ? null : readCanonicalText(checker.json);
  if (!isJsonObject(options) || options['type'] !== 'regex' || options['pattern'] == null) return;
  const values = { output: packValue(''), answer: null, choices: null, options: packValue(options) };
  try {
    await checks.run({ kind: 'check', type: 'regex', chars: 0, ...values }, signal);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const problems = new ConfigProblems(path);
    problems.add(`is invalid: ${error.message.replace(/\.$/, '')}`, ['pattern']);
    throw problems.toError();
  }
}
