import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ItemParts } from '@svc/jsonl-v23';
import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import { type CutRows, RowFields } from '../database/copy-format.ts';
import type { StoredSection } from '../database/dataset-row.ts';
import { itemTooLarge } from '../database/values.ts';
import type { ItemPosition } from './item-ranges.ts';

/** The parts of a stored item; without a payload where it is too large, or is not read. */
export interface StoredParts extends Omit<ItemParts, 'payload'> {
  readonly payload: string | null;
}

/** An item as it is stored: canonical texts, null for an absent key (`'null'` for a JSON null). */
export interface ItemRow extends ItemPosition, StoredParts {
  readonly itemHash: Uint8Array;
  readonly linkedFiles: readonly LinkedFile[];
}

/** A row of this size is decoded in steps, so that other work runs between them. */
export const LARGE_ROW_BYTES: number = 1024 * 1024;

export async function* decodeRows(batches: AsyncIterable<CutRows>) {
  const fields = new RowFields();
  for await (const { bytes, starts, end } of batches) {
    const rows: ItemRow[] = [];
    for (const [index, start] of starts.entries()) {
      fields.read(bytes, start);
      const isLarge = (starts[index + 1] ?? end) - start > LARGE_ROW_BYTES;
      rows.push(isLarge ? await decodeLargeRow(fields) : decodeRow(fields));
    }
    yield rows;
  }
}

/** The fields of a row that an export reads. The longest comes last: what precedes it in an item's text is known before. */
export const ROW_FIELD = {
  sectionOrderIndex: 0,
  orderIndex: 1,
  itemHash: 2,
  answer: 3,
  checker: 4,
  assets: 5,
  linkedFiles: 6,
  payload: 7,
} as const;

export const decodeRow = (
  fields: RowFields,
  text: (field: number) => string | null = (field) => fields.text(field),
): ItemRow => ({
  sectionOrderIndex: fields.int32(ROW_FIELD.sectionOrderIndex),
  orderIndex: fields.int32(ROW_FIELD.orderIndex),
  itemHash: fields.copy(ROW_FIELD.itemHash),
  payload: text(ROW_FIELD.payload),
  answer: text(ROW_FIELD.answer),
  checker: text(ROW_FIELD.checker),
  assets: text(ROW_FIELD.assets),
  linkedFiles: readLinkedFiles(text(ROW_FIELD.linkedFiles)),
});

/** As {@link decodeRow}; the event loop runs after each megabyte. */
export async function decodeLargeRow(fields: RowFields): Promise<ItemRow> {
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
  const { answer, checker, assets, linkedFiles, payload } = ROW_FIELD;
  const texts = new Map<number, string | null>();
  for (const field of [answer, checker, assets, linkedFiles, payload]) texts.set(field, await text(field));
  return decodeRow(fields, (field) => texts.get(field) ?? null);
}

/** Checks that every item comes, in order, and was read: an export must be complete. */
export class ItemOrder {
  readonly #remaining: IterableIterator<StoredSection>;
  readonly #maxItemBytes: number;
  #section: StoredSection | undefined;
  #next = 0;

  /** @param first position of the first item in the first section */
  constructor(sections: readonly StoredSection[], maxItemBytes: number, first = 0) {
    this.#remaining = sections.values();
    this.#maxItemBytes = maxItemBytes;
    this.#advance();
    this.#next = first;
  }

  /** Checks the next item, and gives the name of its section. @throws StoreError `item_too_large` without its parts */
  take(sectionOrderIndex: number, orderIndex: number, hasParts: boolean): string {
    const section = this.#section;
    if (section === undefined || sectionOrderIndex !== section.orderIndex || orderIndex !== this.#next)
      throw new Error(`Item ${orderIndex} of section ${sectionOrderIndex} is out of order.`);
    const { name } = section;
    if (!hasParts) throw itemTooLarge('Item', { section: name, orderIndex }, this.#maxItemBytes);
    this.#next += 1;
    if (this.#next === section.itemCount) this.#advance();
    return name;
  }

  end(): void {
    if (this.#section === undefined) return;
    throw new Error(`Section ${this.#section.orderIndex} ended after ${this.#next} items.`);
  }

  /** Goes on to the next section that has items. */
  #advance(): void {
    this.#next = 0;
    do this.#section = this.#remaining.next().value;
    while (this.#section?.itemCount === 0);
  }
}
