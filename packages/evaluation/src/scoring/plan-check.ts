import type { Item } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { measureCheck } from '../checkers/check-limits.ts';
import { type CheckOutcome, referenceAnswer, unscored } from '../checkers/checker.ts';
import { CHECKERS } from '../checkers/checkers.ts';
import { choicesOf, labelledChoices } from '../item/labelled-choices.ts';
import { excerpt } from '../item/plain-text.ts';
import type { WireFormat } from '../provider.ts';
import type { CheckTask } from './check-task.ts';
import { asksForJudge, type JudgeQuestion, judgeQuestion } from './judge-question.ts';
import { packValue } from './packed-value.ts';

/** An output to score. */
interface PlannedCheck {
  /** The provider's output. */
  readonly output: JsonValue;
  readonly item: Item;
  /** Null if the run has no judge. */
  readonly judge: { readonly defaultPrompts: JsonValue; readonly wireFormat?: WireFormat } | null;
}

/** How an output is scored: not at all, by a checker, or by the judge in this conversation. */
export type CheckPlan =
  | { readonly outcome: CheckOutcome }
  | { readonly task: CheckTask }
  | { readonly question: JudgeQuestion };

/** The default checker by the type of the item. */
const BY_ITEM_TYPE: Readonly<Record<string, string>> = {
  exact: 'exact_match',
  numeric: 'numeric',
  multiple_choice: 'choice',
};

/**
 * Chooses how an output is scored: by the item's checker (`checker.type`, or `checker` itself if it is a string). Without
 * a checker, by the type of the item (`exact`, `numeric`, `multiple_choice`); else by the judge if the run has one and
 * the item has a judge prompt or criteria. Everything else stays unscored, also a checker of an unknown type, such as a
 * script, which is never executed.
 *
 * @throws RunError `checker_invalid`; `checker_limit` if a check or a question would be too large
 */
export function planCheck({ output, item, judge }: PlannedCheck): CheckPlan {
  const { type, options } = chosenChecker(item, judge);
  if (type === undefined) return { outcome: unscored('The item has no checker') };
  if (type === 'judge') {
    if (judge === null) return { outcome: unscored('The run has no judge model') };
    const { defaultPrompts, wireFormat } = judge;
    return { question: judgeQuestion({ output, item, options }, defaultPrompts, wireFormat) };
  }
  if (!CHECKERS.has(type)) return { outcome: unscored(`Checkers of type ${excerpt(type)} are not run`) };
  const answer = getMember(item, 'answer');
  const choices = type === 'choice' ? choicesOf(item) : undefined;
  const chars = measureCheck({ output, answer, choices, options });
  return {
    task: {
      kind: 'check',
      type,
      chars,
      output: packValue(output),
      answer: packValue(answer),
      choices: packValue(choices),
      options: packValue(options),
    },
  };
}

function chosenChecker(
  item: Item,
  model: PlannedCheck['judge'],
): { type: string | undefined; options: JsonObject } {
  const stated = getMember(item, 'checker');
  if (typeof stated === 'string' && stated.trim() !== '') return { type: stated.trim(), options: {} };
  if (isJsonObject(stated)) {
    const type = getMember(stated, 'type');
    if (typeof type === 'string') return { type, options: stated };
    // A script is for other tools. For an object without a type, the type of the item decides.
    if (getMember(stated, 'path') !== undefined || getMember(stated, 'data') !== undefined) {
      return { type: 'script', options: stated };
    }
    return { type: defaultChecker(item, model), options: stated };
  }
  return { type: defaultChecker(item, model), options: {} };
}

function defaultChecker(item: Item, model: PlannedCheck['judge']): string | undefined {
  const type = getMember(item, 'type');
  const clear =
    typeof type === 'string' && Object.hasOwn(BY_ITEM_TYPE, type) ? BY_ITEM_TYPE[type] : undefined;
  const canChoose = clear !== 'choice' || labelledChoices(item).choices.length > 0;
  if (clear !== undefined && canChoose && hasReference(item)) return clear;
  if (model !== null && asksForJudge(item, model.defaultPrompts)) return 'judge';
  return clear;
}

function hasReference(item: Item): boolean {
  const answer = referenceAnswer(item);
  return Array.isArray(answer) ? answer.length > 0 : answer !== undefined;
}
