import type { Item } from '../item/item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';

/** Bytes that are gathered before they are handed on, so that a small item does not cost a turn of its own. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Writes items as JSON Lines: one canonical text a line, each ended by a line feed, as UTF-8 in chunks of about
 * 64 KiB that end with a line. Pulls the next item when it is asked for the next chunk.
 *
 * Throws JsonlError as `canonicalJson` does, and what the source throws.
 */
export async function* writeItems(
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let text = '';
  for await (const item of items) {
    text += `${canonicalJson(item)}\n`;
    if (text.length >= CHUNK_BYTES) {
      yield encoder.encode(text);
      text = '';
    }
  }
  if (text !== '') yield encoder.encode(text);
}
