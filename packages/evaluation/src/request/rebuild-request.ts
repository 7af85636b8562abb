import type { ItemParts, LinkedFile } from '@svc/jsonl-v23/internal';
import { markFiles, type ReadFile, withMarks } from '../assets/marked-files.ts';
import { checkerOf, modelOf, promptsOf, type RunConfig } from '../config/run-config.ts';
import { withChecker } from '../item/large-item.ts';
import { prepareItem } from '../prepare-item.ts';
import type { ProviderRequest, WireFormat } from '../provider.ts';
import type { RunItem } from '../run-session.ts';
import type { CheckRunner } from '../threads/check-runner.ts';
import {
  type ModelRequest,
  modelRequest,
  type RequestBody,
  requestBody,
  requestText,
} from './request-body.ts';

/** What a run sends to its model for an item, without the key. */
export interface RebuiltRequest extends ModelRequest {
  /** The bytes that are sent. */
  readonly body: RequestBody;
  /** The body as text, with a link in place of the content of each file. */
  linked(urlOf: (file: LinkedFile) => string): string;
}

/**
 * Makes the request for an item again, as the worker makes it.
 *
 * @returns null for a provider that sends no requests
 * @throws RunError if no request can be made of the item; the signal's reason when it is aborted
 */
export async function rebuildRequest(
  { checks, readFile }: { readonly checks: Pick<CheckRunner, 'run'>; readonly readFile: ReadFile },
  config: RunConfig,
  item: { readonly parts: NonNullable<RunItem['parts']>; readonly linkedFiles?: RunItem['linkedFiles'] },
  signal: AbortSignal,
): Promise<RebuiltRequest | null> {
  const asked = modelOf(config);
  if (asked === null) return null;
  const { model, wireFormat } = asked;
  const marked = markFiles(item.parts, item.linkedFiles ?? [], readFile);
  const request = await requestOf(checks, config, marked, wireFormat, signal);
  if (request === null) return null;
  return {
    ...modelRequest(model, wireFormat, null),
    body: requestBody(model, request, wireFormat),
    linked: (urlOf) => requestText(model, request, wireFormat, urlOf),
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
  config: Pick<RunConfig, 'checker' | 'checker_mode' | 'system_prompt' | 'prompt_template'>,
  item: { readonly parts: ItemParts; readonly linkedFiles: readonly LinkedFile[] },
  urlOf: (file: LinkedFile) => string,
  signal: AbortSignal,
): Promise<string | null> {
  const format: WireFormat = 'chat_completions';
  const request = await requestOf(checks, config, withMarks(item), format, signal);
  return request === null ? null : requestText(null, request, format, urlOf);
}

async function requestOf(
  checks: Pick<CheckRunner, 'run'>,
  config: Pick<RunConfig, 'checker' | 'checker_mode' | 'system_prompt' | 'prompt_template'>,
  marked: ReturnType<typeof markFiles>,
  wireFormat: WireFormat,
  signal: AbortSignal,
): Promise<ProviderRequest | null> {
  const parts = withChecker(marked.parts, checkerOf(config));
  const deps = { provider: { usesMessages: true, wireFormat }, checks };
  const { asked } = await prepareItem(deps, parts, marked.files, promptsOf(config), signal);
  if ('error' in asked) throw asked.error;
  return 'request' in asked ? asked.request : null;
}
