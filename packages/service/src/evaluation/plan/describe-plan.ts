import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type { UnscorableReason } from '../checkers/checker.ts';
import type { RunConfig } from '../config/run-config.ts';
import { RunError } from '../run-error.ts';
import type { PlanCounts } from './count-scoring.ts';
import type { RunEstimate } from './estimate-run.ts';

export type RunPlan = ReturnType<typeof describePlan>['plan'];

export interface RunWarning {
  readonly code:
    | 'nothing_to_reuse'
    | 'no_items'
    | 'unscorable_items'
    | 'answers_from_one'
    | 'judge_not_used'
    | 'judge_not_priced'
    | 'unknown_key';
  readonly message: string;
}

export interface PlannedRequests {
  /** Requests that an earlier run has an answer to; null if none is named. */
  readonly reused: number | null;
  readonly estimate: RunEstimate | null;
}

/** What the reasons mean, after the number of items. */
export const UNSCORABLE_REASONS: Readonly<Record<UnscorableReason, string>> = {
  item_without_prompt: 'have neither a prompt nor messages',
  no_checker: 'have no checker, and their type implies none',
  no_answer: 'have no answer to compare with',
  no_choices: 'have no choices',
  unknown_answer: 'have an answer that is none of their choices',
  no_judge: 'need a judge, which the run does not have',
  unknown_checker: 'have a checker of another type, which is not run',
  invalid_pattern: 'have a pattern that cannot be used',
};

/**
 * Describes what a run will do.
 *
 * @throws RunError `nothing_to_score` if no item can be scored, unless the configuration allows that
 */
export function describePlan(
  config: Pick<
    RunConfig,
    'allow_unscored' | 'judge' | 'scorers' | 'added_scorers' | 'price' | 'provider' | 'repetitions'
  >,
  { items, scored, judged, fromOne, unscorable: reasons }: PlanCounts,
  asked: PlannedRequests | null,
) {
  const scorable = scored + judged;
  const why = Array.from(reasons, ([reason, count]) => `${count} ${UNSCORABLE_REASONS[reason]}`);
  // Results from outside may bring their scores.
  const canBeScored = scorable > 0 || (config.provider.type === 'external' && items > 0);
  if (!canBeScored && config.allow_unscored !== true) {
    const message =
      items === 0
        ? 'Cannot start the run: it selects no items.'
        : `Cannot start the run: none of its ${items} items can be scored (${why.join('; ')}). Set config.checker, config.judge or config.scorers, or config.allow_unscored to run it anyway.`;
    throw new RunError('nothing_to_score', message);
  }
  const warnings: RunWarning[] = [];
  if (items === 0) warnings.push({ code: 'no_items', message: 'The run selects no items.' });
  else if (scorable < items) {
    const message = `${items - scorable} of ${items} items cannot be scored: ${why.join('; ')}.`;
    warnings.push({ code: 'unscorable_items', message });
  }
  if (fromOne > 0) {
    const message = `The answers of all ${fromOne} items with choices are numbers, and none is 0: 1 is read as the second choice. If 1 means the first one, import them with \`answer_is\` \`number\`.`;
    warnings.push({ code: 'answers_from_one', message });
  }
  if (config.judge !== undefined && judged === 0) {
    warnings.push({ code: 'judge_not_used', message: 'No item needs the judge.' });
  }
  if (config.price !== undefined && judged > 0 && config.judge?.price === undefined) {
    const message = 'The cost of the run will not include the judge: it has no price.';
    warnings.push({ code: 'judge_not_priced', message });
  }
  if (asked?.reused === 0) {
    const message = 'No earlier result answers a request of the run: all of them are sent.';
    warnings.push({ code: 'nothing_to_reuse', message });
  }
  const others = [...(config.scorers ?? []).slice(1), ...(config.added_scorers ?? [])];
  const otherJudges = others.filter(({ judge }) => judge !== undefined).length;
  const requests = ((asked === null ? 0 : items) + judged + items * otherJudges) * config.repetitions;
  const reused = asked?.reused ?? 0;
  return {
    plan: {
      items,
      /** To the model and the judge, without retries. */
      requests: requests - reused,
      /** Requests to the model that an earlier run has an answer to. */
      reused,
      /** Null for a run that asks no model. */
      estimate: asked?.estimate ?? null,
      scorable,
      unscorable: items - scorable,
      unscorable_reasons: Object.fromEntries(reasons),
    },
    warnings,
  };
}

/** The members of a configuration that decide what a model is asked about an item. */
type Asking = Pick<RunConfig, 'provider' | 'system_prompt' | 'prompt_template'>;

export function asksTheSame(config: Asking, other: Asking): boolean {
  return factsOf(config) === factsOf(other);
}

function factsOf(config: Asking): string {
  const { api_key_env: _, auth: __, ...provider }: JsonObject = { ...config.provider };
  const prompts = {
    system_prompt: config.system_prompt ?? null,
    prompt_template: config.prompt_template ?? null,
  };
  return canonicalJson({ ...prompts, provider });
}
