import type { ItemParts } from '@svc/jsonl-v23/internal';
import { getMember, type JsonValue } from '@svc/jsonl-v23/json';
import { assetParts } from './assets/asset-parts.ts';
import type { MarkedFiles } from './assets/marked-files.ts';
import { buildMessages, promptsFor } from './item/build-messages.ts';
import { type JsonText, readCanonicalText } from './item/canonical-text.ts';
import { isLargeItem, readItem } from './item/large-item.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import type { Provider, ProviderRequest } from './provider.ts';
import { RunError } from './run-error.ts';
import { unpackSmall } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

export interface PrepareItemDeps {
  readonly provider: Pick<Provider, 'usesMessages' | 'outputSource' | 'wireFormat'>;
  readonly checks: Pick<CheckRunner, 'run'>;
}

/** What a provider is asked about an item. */
export interface PreparedItem {
  readonly itemId: JsonValue;
  /** Names of the assets for which the provider's API has no part; null if the provider uses no messages. */
  readonly omittedAssets: readonly string[] | null;
  /** The request; the output itself, if a thread has taken it from the item; or why there is neither. */
  readonly asked:
    | { readonly request: ProviderRequest }
    | { readonly output: JsonValue | JsonText }
    | { readonly error: unknown };
}

/** Makes the request for the output of an item. A thread reads a large item. Never rejects. */
export async function prepareItem(
  { provider, checks }: PrepareItemDeps,
  parts: ItemParts,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<PreparedItem> {
  const { usesMessages, outputSource = null, wireFormat = 'chat_completions' } = provider;
  let itemId: JsonValue = null;
  let omittedAssets: readonly string[] | null = null;
  try {
    if (!isLargeItem(parts)) {
      const item = readItem(parts);
      itemId = getMember(item, 'id') ?? null;
      if (usesMessages) omittedAssets = assetParts(item, wireFormat).omitted;
      const messages = usesMessages ? buildMessages(item, promptsFor(parts, prompts), wireFormat) : [];
      return { itemId, omittedAssets, asked: { request: { item, messages, files } } };
    }
    const task = { kind: 'question', parts, usesMessages, outputSource, wireFormat, prompts } as const;
    const question = await checks.run(task, signal);
    itemId = question.itemId === null ? null : readCanonicalText(question.itemId);
    omittedAssets = question.omittedAssets ?? null;
    if (question.failure !== undefined) throw new RunError(question.failure.code, question.failure.message);
    if (question.output !== undefined) {
      return { itemId, omittedAssets, asked: { output: unpackSmall(question.output) } };
    }
    const request = { item: {}, messages: [], conversationJson: question.conversationJson, files };
    return { itemId, omittedAssets, asked: { request } };
  } catch (error) {
    return { itemId, omittedAssets, asked: { error } };
  }
}
