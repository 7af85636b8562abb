import type { Item } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { measureCheck } from '../checkers/check-limits.ts';
import { type CheckOutcome, type Judge, unscored } from '../checkers/checker.ts';
import { CHECKERS } from '../checkers/checkers.ts';
import { labelledChoices } from '../item/labelled-choices.ts';
import type { ChatMessage } from '../ports.ts';
import { type CheckTask, packValue } from './check-task.ts';
import { asksForJudge, judgeQuestion } from './judge.ts';

/** What a check is planned for. */
interface PlannedCheck {
  /** what the provider gave */
  readonly output: JsonValue;
  readonly item: Item;
  /** null where the run has none */
  readonly judge: Pick<Judge, 'defaultPrompts'> | null;
}

/** How an output is scored: not at all, by a checker, or by the judge, who is asked this. */
export type CheckPlan =
  | { readonly outcome: CheckOutcome }
  | { readonly task: CheckTask }
  | { readonly judgeMessages: readonly ChatMessage[] };

/** The checker of an item without one, by the item's type where that leaves no doubt. */
const BY_ITEM_TYPE: Readonly<Record<string, string>> = {
  exact: 'exact_match',
  numeric: 'numeric',
  multiple_choice: 'choice',
};

/**
 * Chooses how an output is scored: by the item's checker (`checker.type`, or `checker` itself where it is a string).
 * Without one: by item type (`exact`, `numeric`, `multiple_choice`), else by the judge where the run has one
 * and the item has a judge prompt or criteria, else unscored. A checker of a type that is not known here,
 * such as a script, is never executed: unscored.
 *
 * @throws RunError `checker_invalid`, `checker_limit` when a check or a question would be too large
 */
export function planCheck({ output, item, judge }: PlannedCheck): CheckPlan {
  const { type, options } = chosenChecker(item, judge);
  if (type === undefined) return { outcome: unscored('The item has no checker') };
  if (type === 'judge') {
    if (judge === null) return { outcome: unscored('The run has no judge model') };
    return { judgeMessages: judgeQuestion({ output, item, options }, judge.defaultPrompts) };
  }
  if (!Object.hasOwn(CHECKERS, type))
    return { outcome: unscored(`Checkers of type ${shown(type)} are not run`) };
  const answer = getMember(item, 'answer');
  const choices = type === 'choice' ? choicesOf(item) : undefined;
  const chars = measureCheck({ output, answer, choices, options });
  return {
    task: {
      type,
      chars,
      output: packValue(output),
      answer: packValue(answer),
      choices: packValue(choices),
      options: packValue(options),
    },
  };
}

function choicesOf(item: Item): JsonValue | undefined {
  const inputs = getMember(item, 'inputs');
  return isJsonObject(inputs) ? getMember(inputs, 'choices') : undefined;
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
    // A script is carried for others; an object that names no checker leaves the choice to the item's type.
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
  if (clear !== undefined && canChoose && hasAnswer(item)) return clear;
  if (model !== null && asksForJudge(item, model.defaultPrompts)) return 'judge';
  return clear;
}

function hasAnswer(item: Item): boolean {
  const answer: JsonValue | undefined = getMember(item, 'answer');
  return answer !== undefined && answer !== null && answer !== '';
}

function shown(type: string): string {
  return JSON.stringify(type.length > 100 ? `${type.slice(0, 100)}…` : type);
}
