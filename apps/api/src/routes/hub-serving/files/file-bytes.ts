import type { HubFile } from '@svc/store';
import type { ItemEncoder } from '../thread/item-encoder.ts';
import type { HubColumn } from './hub-columns.ts';
import { headOf, isTable } from './layout-version.ts';

/** A file, and what its bytes are made from again. */
export interface FileSource {
  readonly file: HubFile;
  /** Name of its section. */
  readonly section: string;
  readonly columns: readonly HubColumn[];
  /** Whether items of the version embed files. */
  readonly hasFiles: boolean;
}

/**
 * The bytes of a file from `start` up to, not including, `end`. Only the groups that the range touches are made again, one
 * at a time.
 *
 * @throws StoreError of reading; Error if the items make other bytes than the layout says
 */
export async function* fileBytes(
  encoder: ItemEncoder,
  { file, section, columns, hasFiles }: FileSource,
  { start, end }: { readonly start: number; readonly end: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  const within = (bytes: Uint8Array): Uint8Array =>
    bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
  const head = headOf(file.path);
  if (start < head.byteLength) yield within(head);
  at += head.byteLength;
  let from = file.firstItem;
  for (const [index, items] of file.groupItems.entries()) {
    const byteLength = file.groupBytes[index] ?? 0;
    if (at >= end) return;
    if (at + byteLength > start) {
      const group = { section: { id: file.sectionId, name: section }, from, to: from + items, hasFiles };
      const table = isTable(file.path) ? { section, columns } : null;
      const { bytes } = await encoder.encode(group, table, signal);
      if (bytes.byteLength !== byteLength) {
        throw new Error(
          `Group ${index} of ${file.path} must have ${byteLength} bytes, got ${bytes.byteLength}.`,
        );
      }
      yield within(bytes);
    }
    at += byteLength;
    from += items;
  }
  if (at < end && at + file.footer.byteLength > start) yield within(file.footer);
}
