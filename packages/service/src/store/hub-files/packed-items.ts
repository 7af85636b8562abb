import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { readLinkedFiles } from '../assets/linked-files-column.ts';
import { COPY_HEADER, COPY_TRAILER, copiedRows } from '../database/copy-format.ts';
import { decodeRow, ROW_FIELD } from '../items/decode-rows.ts';
import type { StoredItem } from '../items/list-items.ts';
import { ItemScan } from './item-scan.ts';
import { emptyProfile, type Profile, Profiler } from './profile.ts';

export type UnpackedItem = Omit<StoredItem, 'section' | 'sectionOrderIndex'>;

/** The columns of {@link ROW_FIELD}, in its order, as bytes. */
const COLUMNS: readonly string[] = [
  ...['int4send(i.section)', 'int4send(i.order_index)', 'i.item_hash'],
  ...['answer', 'checker', 'assets', 'linked_files', 'payload'].map(
    (name) => `convert_to(i.${name}::text, 'UTF8')`,
  ),
];

/**
 * SQL of one value with all items `i`, as the rows of a COPY without header and trailer. A message for each item would make
 * buffers for each of them on the main thread.
 */
export function packedItems(): string {
  const fields = COLUMNS.map(
    (bytes) => `coalesce(int4send(octet_length(${bytes})) || ${bytes}, int4send(-1))`,
  );
  return `string_agg(int2send(${fields.length}::int2) || ${fields.join(' || ')}, ''::bytea ORDER BY i.section, i.order_index)`;
}

/** The bytes of such a value as a whole COPY, in separate memory. */
export function asCopy(rows: Uint8Array): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(COPY_HEADER.byteLength + rows.byteLength + COPY_TRAILER.byteLength);
  packed.set(COPY_HEADER);
  packed.set(rows, COPY_HEADER.byteLength);
  packed.set(COPY_TRAILER, COPY_HEADER.byteLength + rows.byteLength);
  return packed;
}

/** The items in what `HubFileStore.readItems` gave. Depends on little else of the store, so that a thread loads little. */
export function* unpackItems(packed: Uint8Array): Generator<UnpackedItem> {
  // Each has its payload, see `COLUMNS`.
  for (const fields of copiedRows([packed])) yield decodeRow(fields) as UnpackedItem;
}

/** What each item in what `HubFileStore.readItems` gave is: one object, which has one item after another. */
export function* scanItems(packed: Uint8Array): Generator<ItemScan> {
  const scan = new ItemScan();
  for (const fields of copiedRows([packed])) yield scan.read(fields.view(ROW_FIELD.payload), 0);
}

/** The profiles of groups of packed items. @param counts how many items each group has */
export function profileItems(packed: Uint8Array, counts: readonly number[]): readonly Profile[] {
  const profiler = new Profiler();
  const scan = new ItemScan();
  const rows = copiedRows([packed]);
  return counts.map((count) => {
    const profile = emptyProfile();
    for (let left = count; left > 0; left -= 1) {
      const { value: fields } = rows.next();
      if (fields === undefined) throw new Error('A group has too few items.');
      profiler.add(profile, scan.read(fields.view(ROW_FIELD.payload), 0), {
        answer: fields.isNull(ROW_FIELD.answer) ? null : fields.view(ROW_FIELD.answer),
        assets: fields.text(ROW_FIELD.assets),
        linkedFiles: readLinkedFiles(fields.text(ROW_FIELD.linkedFiles)),
      });
    }
    return profile;
  });
}

export function* linkedFilesOf(packed: Uint8Array): Generator<LinkedFile> {
  for (const fields of copiedRows([packed])) {
    if (!fields.isNull(ROW_FIELD.linkedFiles)) yield* readLinkedFiles(fields.text(ROW_FIELD.linkedFiles));
  }
}
