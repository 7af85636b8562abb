import type { ItemParts } from '@svc/jsonl-v23';
import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { markFiles, type ReadFile } from '../assets/marked-files.ts';
import { modelOf, promptsOf, type RunConfig } from '../config/run-config.ts';
import { prepareItem } from '../prepare-item.ts';
import type { ProviderRequest, WireFormat } from '../provider.ts';
import type { RunItem } from '../run-session.ts';
import type { CheckRunner } from '../threads/check-runner.ts';
import { modelRequest, requestBody, requestText } from './request-body.ts';

type Prompting = Pick<RunConfig, 'system_prompt' | 'prompt_template'>;

/**
 * Makes the request for an item again, as the worker makes it: without the key.
 *
 * @returns null for a provider that sends no requests
 * @throws RunError if no request can be made of the item; the signal's reason when it is aborted
 */
export async function rebuildRequest(
  { checks, readFile }: { readonly checks: Pick<CheckRunner, 'run'>; readonly readFile: ReadFile },
  config: RunConfig,
  item: { readonly parts: NonNullable<RunItem['parts']>; readonly linkedFiles?: RunItem['linkedFiles'] },
  signal: AbortSignal,
) {
  const asked = modelOf(config);
  if (asked === null) return null;
  const { model, wireFormat } = asked;
  const marked = markFiles(item.parts, item.linkedFiles, readFile);
  const request = await requestOf(checks, config, marked, wireFormat, signal);
  if (request === null) return null;
  return {
    ...modelRequest(model, wireFormat, null),
    body: requestBody(model, request, wireFormat),
    /** The body as text, with a link in place of the content of each file. */
    linked: (urlOf: (file: LinkedFile) => string) => requestText(model, request, wireFormat, urlOf),
  };
}

/**
 * The messages that a client is to ask for an item, after the templates of the run: a JSON object as text, in the
 * chat-completions format, with a link in place of the content of each file.
 *
 * @throws RunError if no messages can be made of the item; the signal's reason when it is aborted
 */
export async function rebuildMessages(
  { checks }: { readonly checks: Pick<CheckRunner, 'run'> },
  config: Prompting,
  item: { readonly parts: ItemParts; readonly linkedFiles: readonly LinkedFile[] },
  urlOf: (file: LinkedFile) => string,
  signal: AbortSignal,
): Promise<string | null> {
  const format: WireFormat = 'chat_completions';
  const request = await requestOf(checks, config, markFiles(item.parts, item.linkedFiles), format, signal);
  return request === null ? null : requestText(null, request, format, urlOf);
}

async function requestOf(
  checks: Pick<CheckRunner, 'run'>,
  config: Prompting,
  { parts, files }: ReturnType<typeof markFiles>,
  wireFormat: WireFormat,
  signal: AbortSignal,
): Promise<ProviderRequest | null> {
  const deps = { provider: { usesMessages: true, wireFormat }, checks };
  const { asked } = await prepareItem(deps, parts, files, promptsOf(config), signal);
  if ('error' in asked) throw asked.error;
  return 'request' in asked ? asked.request : null;
}
