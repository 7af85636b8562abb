import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import { type RowBatch, RowFields } from '../database/copy-format.ts';

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

/** A row of this size is decoded in steps, so that other work runs between them. */
const LARGE_ROW_BYTES = 1024 * 1024;

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

/** The fields of a row that an export reads. */
const FIELD = {
  sectionOrderIndex: 0,
  orderIndex: 1,
  itemHash: 2,
  payload: 3,
  answer: 4,
  checker: 5,
  assets: 6,
  linkedFiles: 7,
} as const;

function decode(fields: RowFields): ItemRow {
  return {
    sectionOrderIndex: fields.int32(FIELD.sectionOrderIndex),
    orderIndex: fields.int32(FIELD.orderIndex),
    itemHash: fields.copy(FIELD.itemHash),
    payload: fields.text(FIELD.payload),
    answer: fields.text(FIELD.answer),
    checker: fields.text(FIELD.checker),
    assets: fields.text(FIELD.assets),
    linkedFiles: readLinkedFiles(fields.text(FIELD.linkedFiles)),
  };
}

/** As {@link decode}; the event loop runs after each megabyte. */
async function decodeLarge(fields: RowFields): Promise<ItemRow> {
  const text = async (field: number): Promise<string | null> => {
    if (fields.isNull(field)) return null;
    const bytes = fields.view(field);
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let decoded = '';
    for (let at = 0; at < bytes.byteLength; at += LARGE_ROW_BYTES) {
      if (at > 0) await nextTurn();
      decoded += decoder.decode(bytes.subarray(at, at + LARGE_ROW_BYTES), { stream: true });
    }
    return decoded + decoder.decode();
  };
  return {
    sectionOrderIndex: fields.int32(FIELD.sectionOrderIndex),
    orderIndex: fields.int32(FIELD.orderIndex),
    itemHash: fields.copy(FIELD.itemHash),
    payload: await text(FIELD.payload),
    answer: await text(FIELD.answer),
    checker: await text(FIELD.checker),
    assets: await text(FIELD.assets),
    linkedFiles: readLinkedFiles(await text(FIELD.linkedFiles)),
  };
}
