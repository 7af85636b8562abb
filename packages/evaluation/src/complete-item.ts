import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { MarkedFiles } from './assets/marked-files.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import { type PreparedItem, prepareItem } from './prepare-item.ts';
import type { Completion, Provider } from './provider.ts';
import type { EarlierAnswer } from './run-session.ts';
import type { CheckRunner } from './threads/check-runner.ts';

/** Finds the response that an earlier run got to a request with this hash; null if it has no answer. */
export type FindAnswer = (requestHash: Uint8Array, signal: AbortSignal) => Promise<EarlierAnswer | null>;

export interface CompleteItemDeps {
  readonly provider: Provider;
  readonly checks: CheckRunner;
  /** Absent if every item is asked. */
  readonly findAnswer?: FindAnswer | undefined;
}

/** The provider's completion for an item, the answer of an earlier run, or the error instead of both. */
export interface ItemCompletion extends Pick<PreparedItem, 'itemId' | 'omittedAssets'> {
  readonly completion: Completion | { readonly earlier: EarlierAnswer } | { readonly error: unknown };
  /** SHA-256 of what was asked; null if no model is asked. */
  readonly requestHash: Uint8Array | null;
}

/** Asks the provider for the output of an item, unless an earlier run has asked the same. Never rejects. */
export async function completeItem(
  deps: CompleteItemDeps,
  parts: ItemParts,
  repetition: number,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<ItemCompletion> {
  const { asked, ...known } = await prepareItem(deps, parts, files, prompts, signal);
  if ('error' in asked) return { ...known, completion: asked, requestHash: null };
  if ('output' in asked) {
    const completion = { output: asked.output, usage: null, finishReason: null, attempts: null };
    return { ...known, completion, requestHash: null };
  }
  let requestHash: Uint8Array | null = null;
  try {
    requestHash = (await deps.provider.hashRequest?.(asked.request, repetition)) ?? null;
    const earlier = requestHash === null ? null : ((await deps.findAnswer?.(requestHash, signal)) ?? null);
    const completion = earlier === null ? await deps.provider.complete(asked.request, signal) : { earlier };
    return { ...known, completion, requestHash };
  } catch (error) {
    return { ...known, completion: { error }, requestHash };
  }
}
