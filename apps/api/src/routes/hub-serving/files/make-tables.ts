import { createHash } from 'node:crypto';
import { mapOrdered } from '@svc/concurrency';
import { joinBytes } from '@svc/jsonl-v23/internal';
import {
  cutRanges,
  type HubFile,
  type LayoutKey,
  type MadeTable,
  type SectionRange,
  type Store,
  type StoredSection,
} from '@svc/store';
import { PARQUET_MAGIC, parquetFooter, type RowGroup } from '@svc/tabular/write';
import type { ItemEncoder } from '../thread/item-encoder.ts';
import { featuresOf, type HubColumn, storedColumns } from './hub-columns.ts';
import { GROUP_BYTES, GROUP_ITEMS, type ItemGroup } from './plan-files.ts';
import { GROUPS_AT_ONCE } from './read-columns.ts';

/** Tables are kept together when they have so many bytes. */
const KEPT_BYTES = 4 * 1024 * 1024;

interface TableGroup extends ItemGroup {
  readonly table: Table;
}

/** A table that is being made. */
interface Table {
  readonly file: HubFile;
  readonly section: string;
  readonly source: string;
  readonly rowGroups: RowGroup[];
  readonly parts: Uint8Array[];
}

/**
 * Makes tables and keeps them: small ones together, of large ones one group at a time. The bytes depend on the items and
 * the columns alone. Tables that another version has already are not made again.
 *
 * @throws StoreError of reading and of keeping
 */
export async function makeTables(
  { hubFiles, encoder }: { readonly hubFiles: Store['hubFiles']; readonly encoder: ItemEncoder },
  {
    key,
    sections,
    columns,
    files,
  }: {
    readonly key: LayoutKey;
    readonly sections: ReadonlyMap<string, StoredSection>;
    readonly columns: readonly HubColumn[];
    readonly files: readonly HubFile[];
  },
  signal: AbortSignal,
): Promise<void> {
  const ids = [...new Set(files.map(({ sectionId }) => sectionId))];
  const ranges = Map.groupBy(await hubFiles.ranges(ids, signal), ({ section }) => ids[section]);
  const columnsText = JSON.stringify(columns);
  const planned = files.map((file) => {
    const { sectionId, firstItem, itemCount } = file;
    const ofFile = cutRanges(ranges.get(sectionId) ?? [], firstItem, firstItem + itemCount);
    const section = sections.get(sectionId)?.name ?? '';
    const source = createHash('sha256')
      .update(JSON.stringify([key.format, section, firstItem, file.groupItems]))
      .update(ofFile.map(({ partId, first, count }) => `${partId} ${first} ${count}`).join())
      .update(columnsText)
      .digest('hex');
    const table: Table = { file, section, source, rowGroups: [], parts: [PARQUET_MAGIC] };
    return { table, ranges: ofFile };
  });
  const reused = await hubFiles.reuse(
    key,
    planned.map(({ table: { file, source } }) => ({ path: file.path, source })),
  );
  const missing = planned.filter(({ table }) => !reused.has(table.file.path));
  const metadata = { huggingface: JSON.stringify({ info: { features: featuresOf(columns) } }) };
  const made: MadeTable[] = [];
  const end = ({ file: { path }, source, rowGroups, parts }: Table): void => {
    const bytes = joinBytes([...parts.splice(0), parquetFooter(storedColumns(columns), rowGroups, metadata)]);
    made.push({ path, source, bytes, sha256: createHash('sha256').update(bytes).digest('hex') });
  };
  for (const { table } of missing) if (table.file.itemCount === 0) end(table);
  const encoded = mapOrdered(batchesOf(missing), GROUPS_AT_ONCE, async (groups) => ({
    groups,
    rowGroups: await encoder.encode(groups, columns, signal),
  }));
  for await (const { groups, rowGroups } of encoded) {
    for (const [index, { table }] of groups.entries()) {
      const encodedGroup = rowGroups[index];
      if (encodedGroup === undefined) throw new Error(`A group of ${table.file.path} was not encoded.`);
      table.parts.push(encodedGroup.bytes);
      table.rowGroups.push(encodedGroup.group);
      if (table.rowGroups.length === table.file.groupItems.length) end(table);
    }
    if (made.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) < KEPT_BYTES) continue;
    await hubFiles.keep(key, made.splice(0), signal);
  }
  if (made.length > 0) await hubFiles.keep(key, made, signal);
}

/** The groups of tables, some of which are encoded together. */
async function* batchesOf(
  tables: readonly { readonly table: Table; readonly ranges: readonly SectionRange[] }[],
): AsyncGenerator<readonly (TableGroup & { readonly section: string })[]> {
  let batch: (TableGroup & { readonly section: string })[] = [];
  let [items, bytes] = [0, 0];
  for (const { table, ranges } of tables) {
    let from = table.file.firstItem;
    for (const [index, count] of table.file.groupItems.entries()) {
      const size = table.file.groupBytes[index] ?? 0;
      if (batch.length > 0 && (bytes + size > GROUP_BYTES || items + count > GROUP_ITEMS)) {
        yield batch;
        [batch, items, bytes] = [[], 0, 0];
      }
      const ofGroup = cutRanges(ranges, from, from + count);
      batch.push({ table, section: table.section, ranges: ofGroup, items: count, bytes: size });
      from += count;
      items += count;
      bytes += size;
    }
  }
  if (batch.length > 0) yield batch;
}
