import { isJsonObject, JsonlError, JsonStream } from '@svc/jsonl-v23/json';
import { TableError } from '../errors.ts';
import { tryParseJson } from '../scalars/try-parse-json.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { inSlices } from '../source/in-slices.ts';
import { CachedFile } from '../text/cached-file.ts';
import { decodeText } from '../text/decode-text.ts';

/** How far the first line is read for a key, where it is longer than the head of the file. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;

/** The first lines of a file. */
export interface LinesHead {
  readonly text: string;
  readonly isWhole: boolean;
  readonly encoding: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Whether JSON Lines are items: each object of the first lines has `inputs`. Lines that are no JSON do not count, so that
 * they are reported as lines.
 */
export async function holdsItems(source: ByteSource, head: LinesHead): Promise<boolean> {
  const lines = head.text.split('\n');
  if (!head.isWhole) lines.pop();
  if (lines.length === 0) return await firstHasInputs(source, head);
  return lines.every((line) => {
    const value = tryParseJson(line);
    return !isJsonObject(value) || Object.hasOwn(value, 'inputs');
  });
}

/** Whether the first object has `inputs`, or is too long to tell. */
async function firstHasInputs(source: ByteSource, { encoding, signal }: LinesHead): Promise<boolean> {
  const content = upTo(new CachedFile(source, { bytes: 0 }).read(signal), MAX_SEARCHED_BYTES);
  const text = decodeText(inSlices(content), { file: source.path, encoding, signal });
  await using json = new JsonStream(text, { file: source.path });
  try {
    for await (const key of json.members()) if (key === 'inputs') return true;
    return false;
  } catch (error) {
    if (error instanceof JsonlError || error instanceof TableError) return true;
    throw error;
  }
}

/** The first bytes of a content. */
export async function* upTo(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
