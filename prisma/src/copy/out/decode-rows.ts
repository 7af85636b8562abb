import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { readLinkedFiles } from '../../assets/linked-files-column.ts';
import type { RowBatch } from './cut-rows.ts';
import { RowFields } from './row-fields.ts';

/** An item as it is stored: canonical texts, null for an absent key (`'null'` for a JSON null). */
export interface ItemRow {
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  /** 32 bytes. */
  readonly itemHash: Uint8Array;
  /** Null where the item is too large, and is not read. */
  readonly payload: string | null;
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
  /** The embedded files that checker and assets lack. */
  readonly linkedFiles: readonly LinkedFile[];
}

/** A row of this size is joined and decoded in steps, so that other work runs between them. */
export const LARGE_ROW_BYTES: number = 1024 * 1024;

/** Decodes the rows of each batch. */
export async function* decodeRows(
  batches: AsyncIterable<RowBatch>,
): AsyncGenerator<ItemRow[], void, undefined> {
  const fields = new RowFields();
  for await (const { bytes, starts, end } of batches) {
    const rows: ItemRow[] = [];
    for (const [index, start] of starts.entries()) {
      fields.read(bytes, start);
      const isLarge = (starts[index + 1] ?? end) - start > LARGE_ROW_BYTES;
      rows.push(isLarge ? await decodeLarge(fields) : decode(fields));
    }
    yield rows;
  }
}

/** The row as texts. */
export function decode(fields: RowFields): ItemRow {
  const text = (start: number, end: number): string | null =>
    start === -1 ? null : fields.bytes.toString('utf8', start, end);
  return {
    sectionOrderIndex: fields.sectionOrderIndex,
    orderIndex: fields.orderIndex,
    itemHash: fields.hash,
    payload: text(fields.payloadStart, fields.payloadEnd),
    answer: text(fields.answerStart, fields.answerEnd),
    checker: text(fields.checkerStart, fields.checkerEnd),
    assets: text(fields.assetsStart, fields.assetsEnd),
    linkedFiles: readLinkedFiles(text(fields.linkedStart, fields.linkedEnd)),
  };
}

/** The row as texts; the event loop runs after each megabyte. */
export async function decodeLarge(fields: RowFields): Promise<ItemRow> {
  const text = async (start: number, end: number): Promise<string | null> => {
    if (start === -1) return null;
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let decoded = '';
    for (let at = start; at < end; at += LARGE_ROW_BYTES) {
      if (at > start) await nextTurn();
      const piece = fields.bytes.subarray(at, Math.min(end, at + LARGE_ROW_BYTES));
      decoded += decoder.decode(piece, { stream: true });
    }
    return decoded + decoder.decode();
  };
  return {
    sectionOrderIndex: fields.sectionOrderIndex,
    orderIndex: fields.orderIndex,
    itemHash: fields.hash,
    payload: await text(fields.payloadStart, fields.payloadEnd),
    answer: await text(fields.answerStart, fields.answerEnd),
    checker: await text(fields.checkerStart, fields.checkerEnd),
    assets: await text(fields.assetsStart, fields.assetsEnd),
    linkedFiles: readLinkedFiles(await text(fields.linkedStart, fields.linkedEnd)),
  };
}
