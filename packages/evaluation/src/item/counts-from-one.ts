import type { Item } from '@svc/jsonl-v23';
import { getMember } from '@svc/jsonl-v23/json';
import { labelledChoices } from './labelled-choices.ts';
import { plainText } from './plain-text.ts';

/**
 * Whether the answer of an item with n choices may count them from 1, although it is read as an index from 0: it is a bare
 * number from 1 to n, or a list of these, that is no choice's own label or text.
 */
export function countsFromOne(item: Item): boolean {
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
