import type { ItemParts } from '@svc/jsonl-v23/internal';
import { getMember, type JsonValue } from '@svc/jsonl-v23/json';
import { assetParts } from './assets/asset-parts.ts';
import type { MarkedFiles } from './assets/marked-files.ts';
import { buildMessages, promptsFor } from './item/build-messages.ts';
import { readCanonicalText } from './item/canonical-text.ts';
import { isLargeItem, readItem } from './item/large-item.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import type { Completion, Provider } from './provider.ts';
import { RunError } from './run-error.ts';
import { unpackSmall } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

export interface CompleteItemDeps {
  readonly provider: Provider;
  readonly checks: CheckRunner;
}

/** The provider's completion for an item, or the error instead of it. */
export interface ItemCompletion {
  readonly itemId: JsonValue;
  readonly completion: Completion | { readonly error: unknown };
  /** Names of the assets for which the provider's API has no part; null if the provider uses no messages. */
  readonly omittedAssets: readonly string[] | null;
}

/** Asks the provider for the output of an item. A thread reads a large item. Never rejects. */
export async function completeItem(
  deps: CompleteItemDeps,
  parts: ItemParts,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<ItemCompletion> {
  return await (isLargeItem(parts) ? completeLarge : completeSmall)(deps, parts, files, prompts, signal);
}

async function completeSmall(
  { provider }: CompleteItemDeps,
  parts: ItemParts,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<ItemCompletion> {
  const { usesMessages, wireFormat = 'chat_completions' } = provider;
  let itemId: JsonValue = null;
  let omittedAssets: readonly string[] | null = null;
  try {
    const item = readItem(parts);
    itemId = getMember(item, 'id') ?? null;
    if (usesMessages) omittedAssets = assetParts(item, wireFormat).omitted;
    const messages = usesMessages ? buildMessages(item, promptsFor(parts, prompts), wireFormat) : [];
    const completion = await provider.complete({ item, messages, files }, signal);
    return { itemId, completion, omittedAssets };
  } catch (error) {
    return { itemId, completion: { error }, omittedAssets };
  }
}

async function completeLarge(
  { provider, checks }: CompleteItemDeps,
  parts: ItemParts,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<ItemCompletion> {
  const { usesMessages, outputSource = null, wireFormat = 'chat_completions' } = provider;
  let itemId: JsonValue = null;
  let omittedAssets: readonly string[] | null = null;
  try {
    const task = { kind: 'question', parts, usesMessages, outputSource, wireFormat, prompts } as const;
    const question = await checks.run(task, signal);
    itemId = question.itemId === null ? null : readCanonicalText(question.itemId);
    omittedAssets = question.omittedAssets ?? null;
    if (question.failure !== undefined) throw new RunError(question.failure.code, question.failure.message);
    if (question.output !== undefined) {
      const output = unpackSmall(question.output);
      const completion = { output, usage: null, finishReason: null, attempts: null };
      return { itemId, completion, omittedAssets };
    }
    const request = { item: {}, messages: [], conversationJson: question.conversationJson, files };
    return { itemId, completion: await provider.complete(request, signal), omittedAssets };
  } catch (error) {
    return { itemId, completion: { error }, omittedAssets };
  }
}
