import type { ItemParts } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { MarkedFiles } from './assets/marked-files.ts';
import { type JsonText, readCanonicalText } from './item/canonical-text.ts';
import type { RunPrompts } from './item/prompt-template.ts';
import type { Provider, ProviderRequest } from './provider.ts';
import { RunError } from './run-error.ts';
import { unpackSmall } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

export interface PrepareItemDeps {
  readonly provider: Pick<Provider, 'usesMessages' | 'outputSource' | 'wireFormat'>;
  readonly checks: Pick<CheckRunner, 'run'>;
}

export interface PreparedItem {
  readonly itemId: JsonValue;
  /** Names of the assets for which the provider's API has no part; null if the provider uses no messages. */
  readonly omittedAssets: readonly string[] | null;
  /** The request; the output itself, if the item holds it; or why there is neither. */
  readonly asked:
    | { readonly request: ProviderRequest }
    | { readonly output: JsonValue | JsonText }
    | { readonly error: unknown };
}

/** Makes the request for the output of an item. Never rejects. */
export async function prepareItem(
  { provider, checks }: PrepareItemDeps,
  parts: ItemParts,
  files: MarkedFiles | undefined,
  prompts: RunPrompts,
  signal: AbortSignal,
): Promise<PreparedItem> {
  const { usesMessages, outputSource = null, wireFormat = 'chat_completions' } = provider;
  try {
    const question = await checks.run(
      { kind: 'question', parts, usesMessages, outputSource, wireFormat, prompts },
      signal,
    );
    const { omittedAssets, asked } = question;
    const known = { omittedAssets, itemId: question.itemId && readCanonicalText(question.itemId) };
    if ('failure' in asked) {
      return { ...known, asked: { error: new RunError(asked.failure.code, asked.failure.message) } };
    }
    if ('output' in asked) return { ...known, asked: { output: unpackSmall(asked.output) } };
    return { ...known, asked: { request: { ...asked, files } } };
  } catch (error) {
    return { itemId: null, omittedAssets: null, asked: { error } };
  }
}
