import type { EncodedItem } from '@svc/jsonl-v23';

/**
 * The statement that takes what {@link encodeRows} makes, between {@link COPY_HEADER} and {@link COPY_TRAILER}.
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export const COPY_ITEMS =
  'COPY items (section_id, order_index, item_hash, type, payload, answer, checker, assets) FROM STDIN (FORMAT binary)';

/** Signature, no flags, no header extension. */
export const COPY_HEADER: Uint8Array = Uint8Array.from([
  ...[0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0x00],
  ...[0, 0, 0, 0],
  ...[0, 0, 0, 0],
]);

/** A tuple of -1 fields ends the data. */
export const COPY_TRAILER: Uint8Array = Uint8Array.from([0xff, 0xff]);

const FIELDS = 8;
const UUID_BYTES = 16;
const HASH_BYTES = 32;
/** field count, and the length words and bytes of section_id, order_index and item_hash */
const FIXED_BYTES = 2 + (4 + UUID_BYTES) + (4 + 4) + (4 + HASH_BYTES);
const LENGTH_BYTES = 4;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Encodes items as rows of `items` in PostgreSQL's binary COPY format, in which nothing needs escaping: each
 * text is its own bytes behind their count.
 *
 * The texts must be canonical JSON, which is well-formed: a lone surrogate stands in it as an escape.
 *
 * @param items rows in item order
 * @param sectionId uuid of their section
 * @param firstOrderIndex order index of the first; the others count on from it
 * @returns bytes of whole rows, in a buffer of their own
 */
export function encodeRows(
  items: readonly EncodedItem[],
  sectionId: string,
  firstOrderIndex: number,
): Uint8Array {
  let needed = 0;
  for (const { type, payload, answer, checker, assets } of items) {
    needed += FIXED_BYTES + 5 * LENGTH_BYTES + type.length + payload.length;
    needed += (answer?.length ?? 0) + (checker?.length ?? 0) + (assets?.length ?? 0);
  }
  // Room for ASCII, and for any other text as it comes: rows() grows it.
  let buffer = Buffer.allocUnsafeSlow(needed);
  let at = 0;

  const ensure = (bytes: number): void => {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(at + bytes, Math.ceil(buffer.length * 1.5)));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const writeText = (text: string | null): void => {
    if (text === null) {
      ensure(LENGTH_BYTES);
      at = buffer.writeInt32BE(-1, at);
      return;
    }
    let room = buffer.length - at - LENGTH_BYTES;
    if (room < text.length * MAX_BYTES_PER_UNIT && room < Buffer.byteLength(text)) {
      ensure(LENGTH_BYTES + Buffer.byteLength(text));
      room = buffer.length - at - LENGTH_BYTES;
    }
    const written = buffer.write(text, at + LENGTH_BYTES, room, 'utf8');
    buffer.writeInt32BE(written, at);
    at += LENGTH_BYTES + written;
  };

  const section = Buffer.from(sectionId.replaceAll('-', ''), 'hex');
  let orderIndex = firstOrderIndex;
  for (const item of items) {
    ensure(FIXED_BYTES);
    at = buffer.writeInt16BE(FIELDS, at);
    at = buffer.writeInt32BE(UUID_BYTES, at);
    at += section.copy(buffer, at);
    at = buffer.writeInt32BE(4, at);
    at = buffer.writeInt32BE(orderIndex, at);
    at = buffer.writeInt32BE(HASH_BYTES, at);
    buffer.set(item.itemHash, at);
    at += HASH_BYTES;
    writeText(item.type);
    writeText(item.payload);
    writeText(item.answer);
    writeText(item.checker);
    writeText(item.assets);
    orderIndex++;
  }
  return buffer.subarray(0, at);
}
