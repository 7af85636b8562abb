import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { MarkedFiles } from './assets/marked-files.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import { type PreparedItem, prepareItem } from './prepare-item.ts';
import type { Completion, Provider } from './provider.ts';
import type { CheckRunner } from './threads/check-runner.ts';

export interface CompleteItemDeps {
  readonly provider: Provider;
  readonly checks: CheckRunner;
}

/** The provider's completion for an item, or the error instead of it. */
export interface ItemCompletion extends Pick<PreparedItem, 'itemId' | 'omittedAssets'> {
  readonly completion: Completion | { readonly error: unknown };
}

/** Asks the provider for the output of an item. Never rejects. */
export async function completeItem(
  deps: CompleteItemDeps,
  parts: ItemParts,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<ItemCompletion> {
  const { asked, ...known } = await prepareItem(deps, parts, files, prompts, signal);
  if ('error' in asked) return { ...known, completion: asked };
  if ('output' in asked) {
    return {
      ...known,
      completion: { output: asked.output, usage: null, finishReason: null, attempts: null },
    };
  }
  try {
    return { ...known, completion: await deps.provider.complete(asked.request, signal) };
  } catch (error) {
    return { ...known, completion: { error } };
  }
}
