import type { ItemParts } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { assetParts } from '../assets/asset-parts.ts';
import { buildMessages, promptsFor } from '../item/build-messages.ts';
import { itemIdText, readLargeItem } from '../item/large-item.ts';
import { fieldMissing, lastMessageText } from '../item/last-message.ts';
import type { RunPrompts } from '../item/prompt-template.ts';
import { textAt } from '../item/text-at.ts';
import { wireConversation } from '../item/wire-conversation.ts';
import type { OutputSource, WireFormat } from '../provider.ts';
import { RunError, type RunErrorCode } from '../run-error.ts';
import type { PackedValue } from '../scoring/packed-value.ts';

/** Prepares a large item for its provider. */
export interface QuestionTask {
  readonly kind: 'question';
  readonly parts: ItemParts;
  readonly usesMessages: boolean;
  readonly wireFormat: WireFormat;
  readonly prompts: RunPrompts;
  /** Where the item holds the output; null if a provider is asked for it. */
  readonly outputSource: OutputSource | null;
}

/** What a provider needs of a large item. */
export interface Question {
  /** JSON text; null if the item has no id. */
  readonly itemId: string | null;
  /** Why the provider cannot be asked. */
  readonly failure?: { readonly code: RunErrorCode; readonly message: string };
  /** The conversation as JSON text in UTF-8, see `ProviderRequest`; empty if the provider uses none. */
  readonly conversationJson?: Uint8Array<ArrayBuffer>;
  /** The output itself, if the item holds it. */
  readonly output?: PackedValue;
  /** Names of the assets that the conversation lacks. */
  readonly omittedAssets?: readonly string[];
}

/** Does the task on the current thread. Errors of the item become its `failure`. */
export function makeQuestion(task: QuestionTask): Question {
  const { parts, usesMessages, wireFormat, prompts, outputSource } = task;
  const itemId = itemIdText(parts);
  try {
    if (outputSource?.from === 'pointer') {
      const json = textAt(parts, outputSource.pointer);
      if (json === undefined) throw fieldMissing(outputSource.pointer);
      return { itemId, output: { json } };
    }
    if (!usesMessages) return { itemId, conversationJson: new Uint8Array() };
    const item = readLargeItem(parts);
    const messages = buildMessages(item, promptsFor(parts, prompts), wireFormat);
    if (outputSource !== null) return { itemId, output: { json: canonicalJson(lastMessageText(messages)) } };
    const conversation = canonicalJson(wireConversation(messages, wireFormat));
    const omittedAssets = assetParts(item, wireFormat).omitted;
    return { itemId, conversationJson: new TextEncoder().encode(conversation), omittedAssets };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { itemId, failure: { code: error.code, message: error.message } };
  }
}
