import type { Item } from '@svc/jsonl-v23';
import { choiceContent, choiceLabel, readChoices } from '@svc/jsonl-v23/internal';
import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from './canonical-text.ts';

/** One option of a multiple-choice item as the model sees it. */
export interface LabelledChoice {
  /** The choice's own label, else a letter. */
  readonly label: string;
  readonly text: string;
}

/** The choices of an item, and whether their labels come from the item. */
export interface LabelledChoices {
  readonly choices: readonly LabelledChoice[];
  readonly ownLabels: boolean;
}

/**
 * The choices of an item with their labels, in any form that a mapping reads. `{label, text}` objects keep their labels if every choice has one and all
 * are different; otherwise the labels are A to Z, AA, AB and so on. A choice that is not text becomes JSON text.
 */
export function labelledChoices(item: Item): LabelledChoices {
  const values = readChoices(choicesOf(item) ?? null) ?? [];
  const own = values.map(choiceLabel);
  const ownLabels =
    own.length > 0 && own.every((label) => label !== null) && new Set(own).size === own.length;
  const choices = values.map((value, index) => ({
    label: (ownLabels ? own[index] : null) ?? letter(index),
    text: plainText(choiceContent(value)),
  }));
  return { choices, ownLabels };
}

/** The member that lists the choices of an item, as it is. */
export function choicesOf(item: Item): JsonValue | undefined {
  const inputs = getMember(item, 'inputs');
  return isJsonObject(inputs) ? getMember(inputs, 'choices') : undefined;
}

/** The letter of the choice at `index`, from 0: A to Z, then AA, AB ... like the columns of a spreadsheet. */
export function letter(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letter(Math.floor(index / 26) - 1) + last;
}
