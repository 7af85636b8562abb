import {
  type Provider,
  type RunConfig,
  reasoningOf,
  type Scorer,
  type Scorers,
  scorersOf,
} from '@svc/evaluation';
import type { JsonValue } from '@svc/jsonl-v23/json';

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
