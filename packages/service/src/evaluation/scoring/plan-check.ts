import type { Item } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { choicesOf, labelledChoices } from '@svc/jsonl-v23/mapping';
import { measureCheck } from '../check-limits.ts';
import {
  type CheckerDeclaration,
  type CheckOutcome,
  passedOrNot,
  referenceAnswer,
  UNREADABLE,
  type UnscorableReason,
  unscored,
} from '../checkers/checker.ts';
import { CHECKERS, JUDGE } from '../checkers/checkers.ts';
import { CHOICE } from '../checkers/choice.ts';
import { TOOL_CALLS } from '../checkers/tool-calls.ts';
import { excerpt } from '../item/canonical-text.ts';
import type { WireFormat } from '../provider.ts';
import { type ReasoningMode, saidIn, scoredOutput } from '../reading/scored-output.ts';
import { asksForJudge, type JudgeQuestion, judgeQuestion } from './judge-question.ts';
import { type PackedValue, packValue, unpackValue } from './packed-value.ts';

interface RunJudge {
  readonly defaultPrompts: JsonValue;
  readonly wireFormat?: WireFormat;
}

interface PlannedCheck {
  readonly output: JsonValue;
  readonly item: Item;
  readonly reasoning: ReasoningMode;
  /** Reasoning that came beside the output; null without any. */
  readonly thoughts: string | null;
  /** Null if the run has no judge. */
  readonly judge: RunJudge | null;
}

/** How an output is scored: not at all, by a checker, or by the judge in this conversation. */
export type CheckPlan =
  | { readonly outcome: CheckOutcome }
  | { readonly task: CheckTask }
  | { readonly question: JudgeQuestion };

/** The default checker by the type of the item. */
const BY_ITEM_TYPE: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['exact', 'exact_match'],
  ['numeric', 'numeric'],
  ['multiple_choice', 'choice'],
]);

/** What scores the outputs of an item: a checker, or the judge (`checker` is null); or why nothing does. */
export type ChosenCheck =
  | { readonly checker: CheckerDeclaration | null; readonly options: JsonObject }
  | { readonly reason: UnscorableReason; readonly explanation: string };

/**
 * Chooses what scores the outputs of an item: the item's checker (`checker.type`, or `checker` itself if it is a string).
 * Without a checker, by the type of the item (`exact`, `numeric`, `multiple_choice`); else the judge if the run has one and
 * the item has a judge prompt or criteria. Everything else stays unscored, also a checker of an unknown type, such as a
 * script, which is never executed.
 */
export function chooseCheck(item: Item, judge: Pick<RunJudge, 'defaultPrompts'> | null): ChosenCheck {
  const { type, options } = chosenChecker(item, judge);
  if (type === undefined) return { reason: 'no_checker', explanation: 'The item has no checker' };
  if (type === JUDGE.name) {
    if (judge === null) return { reason: 'no_judge', explanation: 'The run has no judge model' };
    return { checker: null, options };
  }
  const checker = CHECKERS.get(type);
  if (checker !== undefined) return { checker, options };
  return { reason: 'unknown_checker', explanation: `Checkers of type ${excerpt(type)} are not run` };
}

/**
 * Plans how an output is scored, see {@link chooseCheck}: what follows its reasoning. An output that is only reasoning
 * fails, also without asking the judge.
 *
 * @throws RunError `checker_invalid`; `checker_limit` if a check or a question would be too large
 */
export function planCheck({ output, item, reasoning: mode, thoughts, judge }: PlannedCheck): CheckPlan {
  const chosen = chooseCheck(item, judge);
  if ('reason' in chosen) return { outcome: unscored(chosen.explanation) };
  const { checker, options } = chosen;
  const reference = referenceAnswer(item) ?? null;
  // If an answer has calls beside its text, all of the output is compared with it.
  const isWhole = checker === TOOL_CALLS || saidIn(reference) !== reference;
  const read = isWhole ? output : saidIn(output);
  const { scored, reasoning, isOnlyReasoning } = scoredOutput(read, mode);
  if (checker === null) {
    const isAllBeside = mode === 'strip' && scored === '' && thoughts !== null;
    if (isOnlyReasoning || isAllBeside) return { outcome: passedOrNot(false, UNREADABLE.reasoning) };
    const whole = [thoughts, reasoning].filter((text) => text !== null && text !== '').join('\n\n');
    const { defaultPrompts = null, wireFormat } = judge ?? {};
    return {
      question: judgeQuestion(
        { output: scored, reasoning: whole, item, options },
        defaultPrompts,
        wireFormat,
      ),
    };
  }
  const answer = getMember(item, 'answer');
  const choices = checker === CHOICE ? choicesOf(item) : undefined;
  const chars = measureCheck([scored, answer, choices, options]);
  return {
    task: {
      kind: 'check',
      type: checker.name,
      chars,
      output: packValue(scored),
      isOnlyReasoning,
      answer: packValue(answer),
      choices: packValue(choices),
      options: packValue(options),
    },
  };
}

function chosenChecker(
  item: Item,
  model: Pick<RunJudge, 'defaultPrompts'> | null,
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

function defaultChecker(item: Item, model: Pick<RunJudge, 'defaultPrompts'> | null): string | undefined {
  const clear = BY_ITEM_TYPE.get(getMember(item, 'type'));
  const canChoose = clear !== 'choice' || labelledChoices(item).choices.length > 0;
  if (clear !== undefined && canChoose && hasReference(item)) return clear;
  if (model !== null && asksForJudge(item, model.defaultPrompts)) return 'judge';
  return clear;
}

function hasReference(item: Item): boolean {
  const answer = referenceAnswer(item);
  return Array.isArray(answer) ? answer.length > 0 : answer !== undefined;
}

export interface CheckTask {
  readonly kind: 'check';
  readonly type: string;
  /** Approximate number of characters of all values together. */
  readonly chars: number;
  readonly output: PackedValue;
  /** Whether the output ends in its reasoning, so that nothing is scored: it fails. Default: false. */
  readonly isOnlyReasoning?: boolean;
  readonly answer: PackedValue;
  readonly choices: PackedValue;
  readonly options: PackedValue;
}

/**
 * Does the task on the current thread.
 *
 * @throws RunError `checker_invalid`, `checker_limit`
 */
export function runCheck(task: CheckTask): CheckOutcome {
  const checker = CHECKERS.get(task.type);
  if (checker === undefined) throw new Error(`Unknown checker ${task.type}.`);
  const answer = unpackValue(task.answer);
  const choices = unpackValue(task.choices);
  const options = unpackValue(task.options);
  // The parts of a checked item have its types.
  const item = {
    ...(answer === undefined ? {} : { answer }),
    ...(choices === undefined ? {} : { inputs: { choices } }),
  } as Item;
  const outcome = checker.check({
    output: unpackValue(task.output) ?? null,
    item,
    options: isJsonObject(options) ? options : {},
  });
  return task.isOnlyReasoning && outcome.status === 'ok' ? passedOrNot(false, UNREADABLE.reasoning) : outcome;
}
