import type { ItemInput } from '../item/item.ts';
import { parseItem } from '../item/parse-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { type ChunkSource, chunksOf, isWebStream } from '../streams.ts';

/** Bytes of a chunk, so that small items share one. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Writes items as JSON Lines: one canonical text per line, each with a line feed, in UTF-8 chunks of about 64 KiB that
 * end with a line. Items are pulled only when the next chunk is.
 *
 * @throws JsonlError as `parseItem` and `canonicalJson` do, `parseItem` with the index of the item as its `row`; what the
 *   source throws
 *
 * @example for await (const chunk of writeItems(items)) file.write(chunk);
 */
export async function* writeItems(
  items: ChunkSource<ItemInput> | Iterable<ItemInput>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let text = '';
  let row = 0;
  for await (const item of isWebStream(items) ? chunksOf<ItemInput>(items) : items) {
    text += `${canonicalJson(parseItem(item, { row }))}\n`;
    row += 1;
    if (text.length >= CHUNK_BYTES) {
      yield encoder.encode(text);
      text = '';
    }
  }
  if (text !== '') yield encoder.encode(text);
}
