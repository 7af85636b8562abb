import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { itemImages } from '../messages.ts';
import { isFilled, memberOf, numberOf, textOf } from '../read-json.ts';
import { Occurrences } from '../stage/key-numbers.ts';
import { customId } from '../tools/openai-batch.ts';
import { askedMessages, countUnwritten, plainText, tokensOf, withImages } from './item-texts.ts';
import {
  type SourceItem,
  samplesOf,
  type ToolSource,
  type WriteContext,
  type WrittenFile,
} from './tool-source.ts';

const MAX_REQUESTS = 50_000;
const MAX_BATCH_BYTES = 200_000_000;

/** The requests of a batch, in files that are not larger than a batch may be. */
export async function* batchRequests(source: ToolSource, context: WriteContext): AsyncGenerator<WrittenFile> {
  const lines = requestLines(source, context);
  let next = await lines.next();
  for (let number = 1; next.done !== true; number += 1) {
    let written = 0;
    let bytes = 0;
    async function* text(): AsyncGenerator<string> {
      while (next.done !== true) {
        const size = Buffer.byteLength(next.value);
        if (written === MAX_REQUESTS || (written > 0 && bytes + size > MAX_BATCH_BYTES)) return;
        written += 1;
        bytes += size;
        yield next.value;
        next = await lines.next();
      }
    }
    yield { name: `batch-${number}.jsonl`, text: text() };
  }
}

/** Whether the requests fit into one file. Reads the source to its end: it cannot be read again after half of it. */
export async function fitsOneBatch(source: ToolSource, context: WriteContext): Promise<boolean> {
  if (source.itemCount > MAX_REQUESTS) return false;
  let bytes = 0;
  for await (const line of requestLines(source, context)) bytes += Buffer.byteLength(line);
  return bytes <= MAX_BATCH_BYTES;
}

async function* requestLines(source: ToolSource, context: WriteContext): AsyncGenerator<string, undefined> {
  const occurrences = new Occurrences();
  for await (const batch of source.items()) {
    for (const item of batch) {
      const number = occurrences.next(item.itemHash);
      yield `${canonicalJson(toRequest(item, number, context))}\n`;
    }
  }
  return undefined;
}

function toRequest(source: SourceItem, number: number, { lost, model }: WriteContext): JsonObject {
  const { item, itemHash, section } = source;
  const place = lost.at({ file: section });
  const messages = withImages(askedMessages(item), itemImages(item, place), (url) => {
    return { type: 'image_url', image_url: { url } };
  });
  // The request keeps the hash of the item, from which its dataset has the id.
  countUnwritten(item, ['id'], place);
  return {
    custom_id: customId(itemHash, 1, number),
    ...{ method: 'POST', url: '/v1/chat/completions' },
    body: { model, messages: [...messages] },
  };
}

export async function* batchResponses(
  source: ToolSource,
  { lost, model }: WriteContext,
): AsyncGenerator<string> {
  const occurrences = new Occurrences();
  for await (const { itemHash, section, results } of samplesOf(source)) {
    const number = occurrences.next(itemHash);
    const place = lost.at({ file: section });
    for (const result of results) {
      const { repetition = 1, output = null, error = null, usage = null } = result;
      if (isFilled(result.scores) || (result.score ?? null) !== null) place.lost('scores');
      if ((result.latency_ms ?? null) !== null) place.lost('latencies');
      const content = output === null ? null : plainText(output);
      const message = { role: 'assistant', content };
      const body = {
        ...{ object: 'chat.completion', model, usage: isFilled(usage) ? usageOf(usage) : null },
        choices: [{ index: 0, message, finish_reason: result.finish_reason ?? null }],
      };
      const custom_id = customId(itemHash, numberOf(repetition) ?? 1, number);
      const failure = {
        code: memberOf(error, 'code'),
        message: textOf(memberOf(error, 'message')) ?? 'failed',
      };
      const line =
        result.status === 'failed'
          ? { id: custom_id, custom_id, response: null, error: failure }
          : {
              id: custom_id,
              custom_id,
              response: { status_code: 200, request_id: custom_id, body },
              error: null,
            };
      yield `${canonicalJson(line)}\n`;
    }
  }
}

function usageOf(usage: JsonValue): JsonObject {
  const { input_tokens: input, output_tokens: output, total_tokens } = tokensOf(usage);
  return { prompt_tokens: input, completion_tokens: output, total_tokens };
}
