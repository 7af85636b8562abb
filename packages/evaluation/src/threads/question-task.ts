import type { ItemParts } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { buildMessages } from '../item/build-messages.ts';
import { itemIdText, readLargeItem } from '../item/large-item.ts';
import { fieldMissing, lastMessageText } from '../item/last-message.ts';
import { textAt } from '../item/text-at.ts';
import type { OutputSource } from '../provider.ts';
import { RunError } from '../run-error.ts';
import type { RunFailure } from '../run-session.ts';
import type { PackedValue } from '../scoring/packed-value.ts';

/** Prepares a large item for its provider. */
export interface QuestionTask {
  readonly kind: 'question';
  readonly parts: ItemParts;
  readonly usesMessages: boolean;
  /** Where the item holds the output; null if a provider is asked for it. */
  readonly outputSource: OutputSource | null;
}

/** What a provider needs of a large item. */
export interface Question {
  /** JSON text; null if the item has no id. */
  readonly itemId: string | null;
  /** Why the provider cannot be asked. */
  readonly failure?: RunFailure;
  /** The conversation as JSON text in UTF-8; empty if the provider uses none. */
  readonly messagesJson?: Uint8Array<ArrayBuffer>;
  /** The output itself, if the item holds it. */
  readonly output?: PackedValue;
}

/** Does the task on the current thread. Errors of the item become its `failure`. */
export function makeQuestion({ parts, usesMessages, outputSource }: QuestionTask): Question {
  const itemId = itemIdText(parts);
  try {
    if (outputSource?.from === 'pointer') {
      const json = textAt(parts, outputSource.pointer);
      if (json === undefined) throw fieldMissing(outputSource.pointer);
      return { itemId, output: { json } };
    }
    if (!usesMessages) return { itemId, messagesJson: new Uint8Array() };
    const messages = buildMessages(readLargeItem(parts));
    if (outputSource !== null) return { itemId, output: { json: canonicalJson(lastMessageText(messages)) } };
    return { itemId, messagesJson: new TextEncoder().encode(canonicalJson(messages)) };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { itemId, failure: { code: error.code, message: error.message } };
  }
}
