import { joinBytes, layoutLinkedItem } from '@svc/jsonl-v23/internal';
import { joinStoredItem, unpackItems } from '@svc/store/rows';
import { encodeRowGroup, type RowGroup } from '@svc/tabular/write';
import { type HubColumn, HubRow, parquetColumns } from '../files/hub-columns.ts';
import { addItem, emptyProfile, type Profile } from '../files/profile.ts';

/** The items of a group, and what to make of them. */
export interface EncodeTask {
  /** For `unpackItems`. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** Contents of the files that the result embeds, by hash. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Set to encode a row group of a Parquet file; null for canonical lines. */
  readonly table: { readonly section: string; readonly columns: readonly HubColumn[] } | null;
}

export interface EncodedItems {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The chunks of a row group; null for lines. */
  readonly group: RowGroup | null;
  /** The profile of the items of lines; null for a row group. */
  readonly profile: Profile | null;
}

/** Encodes a group. The result depends on the task alone. */
export async function encodeItems({ packed, contents, table }: EncodeTask): Promise<EncodedItems> {
  if (table === null) return encodeLines(packed, contents);
  const columns = parquetColumns(table.columns, contents);
  function* rows(section: string): Generator<HubRow> {
    for (const item of unpackItems(packed)) yield new HubRow(item, section);
  }
  return { ...(await encodeRowGroup(rows(table.section), columns)), profile: null };
}

function encodeLines(packed: Uint8Array, contents: ReadonlyMap<string, Uint8Array>): EncodedItems {
  const profile = emptyProfile();
  const parts: Uint8Array[] = [];
  for (const item of unpackItems(packed)) {
    addItem(profile, item);
    if (item.linkedFiles.length === 0) {
      parts.push(Buffer.from(`${joinStoredItem(item)}\n`));
      continue;
    }
    for (const piece of layoutLinkedItem(item)) {
      if (typeof piece === 'string') parts.push(Buffer.from(piece));
      else parts.push(Buffer.from(base64(contents, piece.sha256), 'latin1'));
    }
    parts.push(Buffer.from('\n'));
  }
  return { bytes: joinBytes(parts), group: null, profile };
}

function base64(contents: ReadonlyMap<string, Uint8Array>, sha256: string): string {
  const bytes = contents.get(sha256);
  if (bytes === undefined) throw new Error(`The content of ${sha256} was not read.`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
