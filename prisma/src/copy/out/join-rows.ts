import { setImmediate as nextTurn } from 'node:timers/promises';
import { joinItem } from '@svc/jsonl-v23';
import { type ItemParts, joinItemBytes } from '@svc/jsonl-v23/internal';
import type { RowBatch } from './cut-rows.ts';
import { decode, decodeLarge, type ItemRow, LARGE_ROW_BYTES } from './decode-rows.ts';
import type { ItemOrder } from './item-order.ts';
import { RowFields } from './row-fields.ts';

const LINE_FEED = 10;
/** UTF-16 code units of a large line that are encoded at once. */
const PIECE_LENGTH = 64 * 1024;

/**
 * Joins the parts of items that link no files to canonical lines, each with its line feed. Most items never become text.
 *
 * @throws as `order` does
 */
export async function* joinRows(
  batches: AsyncIterable<RowBatch>,
  order: ItemOrder,
): AsyncGenerator<Uint8Array, void, undefined> {
  const fields = new RowFields();
  for await (const { bytes, starts, end } of batches) {
    const sizes = starts.map((start, index) => (starts[index + 1] ?? end) - start);
    // A row has more bytes than its line.
    const lines = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + (isLarge(size) ? 0 : size), 0));
    let from = 0;
    let to = 0;
    for (const [index, start] of starts.entries()) {
      fields.read(bytes, start);
      order.take(fields.sectionOrderIndex, fields.orderIndex, fields.payloadStart !== -1);
      if (isLarge(sizes[index] ?? 0)) {
        if (to > from) yield lines.subarray(from, to);
        from = to;
        yield* piecesOf(`${joinItem(partsOf(await decodeLarge(fields)))}\n`);
        continue;
      }
      const joined = joinItemBytes(fields, lines, to);
      to = joined === -1 ? to + lines.write(joinItem(partsOf(decode(fields))), to) : joined;
      lines[to++] = LINE_FEED;
    }
    if (to > from) yield lines.subarray(from, to);
  }
  order.end();
}

const isLarge = (rowBytes: number): boolean => rowBytes > LARGE_ROW_BYTES;

function partsOf({ payload, answer, checker, assets }: ItemRow): ItemParts {
  return { payload: payload ?? '', answer, checker, assets };
}

/** A long text as UTF-8, in pieces; the event loop runs after each megabyte. */
async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE_LENGTH, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    const piece = encoder.encode(text.slice(start, end));
    yield piece;
    start = end;
    bytes += piece.byteLength;
    if (bytes < LARGE_ROW_BYTES) continue;
    bytes = 0;
    await nextTurn();
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
