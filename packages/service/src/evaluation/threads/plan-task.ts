import { type Item, type ItemParts, JsonlError } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { labelledChoices } from '@svc/jsonl-v23/mapping';
import { type DecideOnce, referenceAnswer, type UnscorableReason } from '../checkers/checker.ts';
import { CHOICE } from '../checkers/choice.ts';
import { buildMessages } from '../item/build-messages.ts';
import { plainText } from '../item/canonical-text.ts';
import { type RunChecker, readItem, withChecker } from '../item/large-item.ts';
import type { RunPrompts } from '../item/prompt-template.ts';
import { RunError } from '../run-error.ts';
import { type PackedValue, unpackValue } from '../scoring/packed-value.ts';
import { chooseCheck } from '../scoring/plan-check.ts';

export interface ScoringFacts {
  readonly checker: RunChecker | null;
  /** Null if the run has no judge. */
  readonly judge: { readonly defaultPrompts: JsonValue } | null;
  /** What items are asked with; null if outputs come without asking. */
  readonly prompts: RunPrompts | null;
}

export interface PlanTask extends Pick<ScoringFacts, 'checker' | 'prompts'> {
  readonly kind: 'plan';
  /** What decides, for each item: `payload` holds no more than that, and no texts of prompts. */
  readonly items: readonly ItemParts[];
  readonly judge: { readonly defaultPrompts: PackedValue } | null;
  /** Time for decisions that serve many items: the rest then counts as usable. */
  readonly triesMs: number;
}

/** Counts the items, on the current thread; `spentMs` is what the tries took. */
export function planScoring({ items, triesMs, ...facts }: PlanTask) {
  const defaultPrompts = unpackValue(facts.judge?.defaultPrompts ?? null) ?? null;
  const judge = facts.judge === null ? null : { defaultPrompts };
  const known = new Map<string, UnscorableReason | null>();
  let spentMs = 0;
  const once: DecideOnce = (key, decide) => {
    const found = known.get(key);
    if (found !== undefined || spentMs >= triesMs) return found ?? null;
    const startMs = performance.now();
    const reason = decide();
    spentMs += performance.now() - startMs;
    known.set(key, reason);
    return reason;
  };
  // Scored by a checker, or by the judge; with an answer and the checker `choice`, and how many of those may count from 1.
  const counts = { scored: 0, judged: 0, chosen: 0, fromOne: 0 };
  const unscorable = new Map<UnscorableReason, number>();
  const note = (item: Item): void => {
    if (referenceAnswer(item) === undefined) return;
    counts.chosen += 1;
    if (countsFromOne(item)) counts.fromOne += 1;
  };
  for (const parts of items) {
    const found = scoringOf(withChecker(parts, facts.checker), { judge, prompts: facts.prompts }, once, note);
    if (found === 'scored' || found === 'judged') counts[found] += 1;
    else unscorable.set(found, (unscorable.get(found) ?? 0) + 1);
  }
  return { ...counts, unscorable, spentMs };
}

/** @param note takes an item whose checker is `choice` */
function scoringOf(
  parts: ItemParts,
  { judge, prompts }: Pick<ScoringFacts, 'judge' | 'prompts'>,
  once: DecideOnce,
  note: (item: Item) => void,
): 'scored' | 'judged' | UnscorableReason {
  try {
    const item = readItem(parts);
    if (prompts !== null && prompts.template === null) {
      const inputs = getMember(item, 'inputs');
      const hasPrompt = isJsonObject(inputs) && typeof getMember(inputs, 'prompt') === 'string';
      if (!hasPrompt) buildMessages(item, { system: prompts.system, template: null });
    }
    const chosen = chooseCheck(item, judge);
    if ('reason' in chosen) return chosen.reason;
    const { checker, options } = chosen;
    if (checker === null) return 'judged';
    if (checker === CHOICE) note(item);
    return checker.unscorableReason(item, options, once) ?? 'scored';
  } catch (error) {
    // Damaged items, and items beyond a limit, fail: they are not unscored.
    if (error instanceof JsonlError) return 'scored';
    if (!(error instanceof RunError)) throw error;
    return error.code === 'item_without_prompt' ? error.code : 'scored';
  }
}

/**
 * Whether the answer of an item with n choices may count them from 1, although it is read as an index from 0: it is a bare
 * number from 1 to n, or a list of these, but no choice's own label or text.
 */
function countsFromOne(item: Item): boolean {
  const answer = getMember(item, 'answer') ?? null;
  const numbers = (Array.isArray(answer) ? answer : [answer]).map((one) => plainText(one).trim());
  if (numbers.length === 0 || !numbers.every((text) => /^[1-9]\d{0,8}$/.test(text))) return false;
  const { choices } = labelledChoices(item);
  return numbers.every(
    (text) =>
      Number(text) <= choices.length &&
      !choices.some((choice) => choice.label.trim() === text || choice.text.trim() === text),
  );
}
