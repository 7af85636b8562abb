import type { SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { contentText, withMessages } from '../messages.ts';
import {
  baseName,
  elementsOf,
  invalidLine,
  isFilled,
  memberOf,
  membersOf,
  numberOf,
  readLines,
  textOf,
} from '../read-json.ts';
import type { ReadContext, ToolContent, ToolFile, ToolResult, ToolRun, ToolSample } from '../tool.ts';

/** A `custom_id` that was made of an item: its hash, the repetition, and its number among equal items, from the second. */
const OWN_ID = /^([0-9a-f]{64})-([1-9]\d{0,2})(?:-([1-9]\d{0,9}))?$/;

/** @param number of the item among equal ones, from 1 */
export const customId = (itemHash: string, repetition: number, number: number): string =>
  `${itemHash}-${repetition}${number === 1 ? '' : `-${number}`}`;

/** What responses without their requests lack. */
export const LOST_ITEMS = 'items of responses';

/**
 * The files of OpenAI's batches: requests become items, and responses a run of them. Responses whose `custom_id` was made
 * of an item need no requests where a dataset has that item: their items have nothing but its hash, as their id.
 */
export function readOpenAiBatch(files: readonly ToolFile[], context: ReadContext): ToolContent {
  return { name: baseName(files), samples: samples(files, context) };
}

async function* samples(
  files: readonly ToolFile[],
  { limits, lost, signal }: ReadContext,
): AsyncGenerator<ToolSample, ToolRun | null> {
  const requests: ToolFile[] = [];
  const responses: ToolFile[] = [];
  for (const file of files) {
    const { value: first } = await readLines(file, limits, signal).next();
    const isRequests = first !== undefined && isJsonObject(first.value) && Object.hasOwn(first.value, 'body');
    (isRequests ? requests : responses).push(file);
  }
  for (const file of requests) {
    for await (const { value, location } of readLines(file, limits, signal)) {
      const id = customIdOf(value, location);
      const body = membersOf(value['body']);
      const { messages = null, input = null, prompt = null } = body;
      const asked = messages ?? input ?? prompt;
      if (asked === null) throw invalidLine('The request must have messages', location, '/body');
      const place = lost.at(location);
      for (const name of Object.keys(body)) {
        if (!KNOWN.has(name)) place.lost(`parameter ${name}`);
      }
      const { key, itemId } = itemOf(id);
      const item = { id: itemId, inputs: withMessages(asked, place) };
      yield { section: 'default', key, item, sourceRow: value, result: null, location };
    }
  }
  let model: string | null = null;
  for (const file of responses) {
    for await (const { value, location } of readLines(file, limits, signal)) {
      const id = customIdOf(value, location);
      if (requests.length === 0 && OWN_ID.exec(id) === null) {
        const message =
          'The responses name no items of a dataset by their custom_id: send the requests of the batch with them.';
        throw new PackageError('package_unsupported', message, { entry: file.name, location });
      }
      const place = lost.at(location);
      if (requests.length === 0) place.lost(LOST_ITEMS);
      model ??= textOf(memberOf(memberOf(value['response'] ?? null, 'body'), 'model'));
      const { key, itemId } = itemOf(id);
      const item = { id: itemId, inputs: {} };
      const facts = { hasKeyOnly: true, isKnown: requests.length > 0, sourceRow: undefined, location };
      const sample = { section: 'default', key, item, ...facts };
      yield { ...sample, result: toResult(value, id, place) };
    }
  }
  if (responses.length === 0) return null;
  return {
    ...{ name: model, status: 'completed', startedAt: null, finishedAt: null, error: null },
    config: model === null ? {} : { model },
  };
}

const KNOWN: ReadonlySet<string> = new Set(['model', 'messages', 'input', 'prompt']);

function customIdOf(line: JsonObject, location: SourceLocation): string {
  const id = textOf(line['custom_id']);
  if (id === null) throw invalidLine('custom_id must be a text', location, '/custom_id');
  return id;
}

function itemOf(id: string): { readonly key: string; readonly itemId: string } {
  const [, hash, , number] = OWN_ID.exec(id) ?? [];
  return hash === undefined
    ? { key: id, itemId: id }
    : { key: number === undefined ? hash : `${hash}-${number}`, itemId: hash };
}

const failedWith = (status: number | null): string =>
  `The request failed${status === null || status < 400 ? '' : ` with status ${status}`}.`;

function toResult(line: JsonObject, id: string, place: Place): ToolResult {
  const body = memberOf(line['response'] ?? null, 'body');
  const status = numberOf(memberOf(line['response'] ?? null, 'status_code'));
  const choices = elementsOf(memberOf(body, 'choices'));
  const [choice = null] = choices;
  const problem =
    [memberOf(body, 'error'), memberOf(choice, 'error'), line['error'] ?? null].find(isFilled) ?? null;
  const message = memberOf(choice, 'message');
  // The Responses API has a list of outputs instead.
  const outputs = elementsOf(memberOf(body, 'output'));
  const messages = outputs.filter((one) => memberOf(one, 'type') === 'message');
  const calls = outputs.filter((one) => textOf(memberOf(one, 'type'))?.endsWith('_call')).length;
  place.lost('further choices of the output', Math.max(0, choices.length - 1));
  place.lost('tool calls', elementsOf(memberOf(message, 'tool_calls')).length + calls);
  place.lost('output that is not text', outputs.length - messages.length - calls);
  // The older API of completions has a text in place of a message.
  const content: JsonValue =
    messages.length > 0
      ? messages.map((one) => contentText(memberOf(one, 'content'))).join('')
      : (memberOf(message, 'content') ?? memberOf(message, 'refusal') ?? memberOf(choice, 'text'));
  const reason = reasonOf(body, choice);
  // An answer that ended with an error is none, whatever its status, nor is one without a choice, which was filtered.
  const isNone = reason === 'error' || (choice === null && Array.isArray(memberOf(body, 'choices')));
  const hasFailed = problem !== null || isNone || (status !== null && status >= 400);
  const usage = memberOf(body, 'usage');
  return {
    repetition: Number(OWN_ID.exec(id)?.[2] ?? 1),
    output: hasFailed || content === null ? null : contentText(content),
    error: hasFailed ? (textOf(memberOf(problem, 'message')) ?? textOf(problem) ?? failedWith(status)) : null,
    scores: new Map(),
    usage: isJsonObject(usage) ? usage : null,
    finishReason: reason,
    traceId: id,
  };
}

/** Why an output ended, as chat completions say it; the Responses API has a status instead. */
function reasonOf(body: JsonValue, choice: JsonValue): string | null {
  const status = textOf(memberOf(body, 'status'));
  if (status === null) return textOf(memberOf(choice, 'finish_reason'));
  if (status === 'completed') return 'stop';
  if (status !== 'incomplete') return 'error';
  const reason = textOf(memberOf(memberOf(body, 'incomplete_details'), 'reason'));
  return reason === 'content_filter' ? reason : 'length';
}
