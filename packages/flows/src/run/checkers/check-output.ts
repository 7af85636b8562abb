import { getMember, type Item, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23';
import { labelledChoices } from '../labelled-choices.ts';
import { limitCheckSize } from './check-limits.ts';
import { type Checker, type CheckOutcome, type CheckRequest, type Judge, unscored } from './checker.ts';
import { choice } from './choice.ts';
import { exactMatch } from './exact-match.ts';
import { includes } from './includes.ts';
import { jsonEqual } from './json-equal.ts';
import { asksForJudge, judge } from './judge.ts';
import { numeric } from './numeric.ts';
import { regex } from './regex.ts';

/** Every checker by its `checker.type`. */
export const CHECKERS: Readonly<Record<string, Checker>> = {
  exact_match: exactMatch,
  includes,
  regex,
  numeric,
  choice,
  json_equal: jsonEqual,
  judge,
};

/** The checker of an item without one, by the item's type where that leaves no doubt. */
const BY_ITEM_TYPE: Readonly<Record<string, string>> = {
  exact: 'exact_match',
  numeric: 'numeric',
  multiple_choice: 'choice',
};

/**
 * Scores an output with the item's checker (`checker.type`, or `checker` itself where it is a string).
 * Without one: by item type (`exact`, `numeric`, `multiple_choice`), else by the judge where the run has one
 * and the item has a judge prompt or criteria, else unscored. A checker of a type that is not known here,
 * such as a script, is never executed: unscored.
 *
 * Throws as {@link Checker} does.
 */
export async function checkOutput(request: Omit<CheckRequest, 'options'>): Promise<CheckOutcome> {
  const { type, options } = chosenChecker(request.item, request.judge);
  if (type === undefined) return unscored('The item has no checker');
  const checker = Object.hasOwn(CHECKERS, type) ? CHECKERS[type] : undefined;
  if (checker === undefined) return unscored(`Checkers of type ${shown(type)} are not run`);
  limitCheckSize(request.output, getMember(request.item, 'answer') ?? null);
  return checker({ ...request, options });
}

function chosenChecker(item: Item, model: Judge | null): { type: string | undefined; options: JsonObject } {
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

function defaultChecker(item: Item, model: Judge | null): string | undefined {
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
