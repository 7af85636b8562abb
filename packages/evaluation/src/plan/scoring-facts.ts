import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { CHECKERS } from '../checkers/checkers.ts';
import type { ScorerPlan } from '../config/run-config.ts';
import type { RunChecker } from '../item/with-checker.ts';
import { judgePrompt } from '../scoring/judge-prompt.ts';

/** What decides whether an item can be scored, besides the item. */
export interface ScoringFacts {
  readonly checker: RunChecker | null;
  /** Types of checkers that the service runs, except `judge`. */
  readonly checkerTypes: readonly string[];
  /** Null if the run has no judge. */
  readonly judge: {
    /** Item types for which the dataset has a default judge prompt, ... */
    readonly promptTypes: readonly string[];
    /** ... and those for which it has none, ... */
    readonly otherTypes: readonly string[];
    /** ... and whether it has one for types in neither list. */
    readonly promptsOtherwise: boolean;
  } | null;
}

/** A type that no default judge prompt is for. */
const UNNAMED_TYPE = '\u0000';

/** @param defaultJudgePrompts of the dataset; null without them */
export function scoringFacts(
  { checker, judge }: Pick<ScorerPlan, 'checker' | 'judge'>,
  defaultJudgePrompts: JsonValue,
): ScoringFacts {
  const hasPrompt = (type: string): boolean => judgePrompt({ type }, defaultJudgePrompts) !== undefined;
  const named = isJsonObject(defaultJudgePrompts) ? Object.keys(defaultJudgePrompts) : [];
  return {
    checker,
    checkerTypes: [...CHECKERS.keys()],
    judge:
      judge === null
        ? null
        : {
            promptTypes: named.filter(hasPrompt),
            otherTypes: named.filter((type) => !hasPrompt(type)),
            promptsOtherwise: hasPrompt(UNNAMED_TYPE),
          },
  };
}
