import { createHash } from 'node:crypto';
import { splitNames } from '@svc/jsonl-v23';
import { joinBytes } from '@svc/jsonl-v23/bytes';
import { mapOrdered } from '@svc/service/concurrency';
import {
  cutRange,
  cutRanges,
  type HubFile,
  type LayoutKey,
  type MadeTable,
  type SectionRange,
  type Store,
  type StoredSection,
} from '@svc/service/store';
import {
  addProfile,
  emptyProfile,
  PROFILE_ITEMS,
  type Profile,
  ProfileBlocks,
  parseProfile,
} from '@svc/service/store/rows';
import { PARQUET_MAGIC, parquetFooter, type RowGroup } from '@svc/tabular/write';
import type { ItemEncoder } from '../thread/item-encoder.ts';
import { planTasks } from './card.ts';
import { featuresOf, type HubColumn, planColumns, storedColumns } from './hub-columns.ts';
import { bytesOf, cutBefore, GROUP_BYTES, GROUP_ITEMS, groupItems, itemsOf } from './plan-files.ts';

const KEPT_BYTES = 4 * 1024 * 1024;

interface Table {
  readonly file: HubFile;
  readonly section: string;
  readonly source: string;
  readonly rowGroups: RowGroup[];
  readonly parts: Uint8Array[];
}

/** Keeps small tables together, of large ones one group at a time. Their bytes depend on the items and the columns alone. */
export async function makeTables(
  { hubFiles, encoder }: { readonly hubFiles: Store['hubFiles']; readonly encoder: ItemEncoder },
  key: LayoutKey,
  sections: readonly StoredSection[],
  columns: readonly HubColumn[],
  files: readonly HubFile[],
  signal: AbortSignal,
): Promise<void> {
  const ids = [...new Set(files.map(({ sectionId }) => sectionId))];
  const ranges = Map.groupBy(await hubFiles.ranges(ids, signal), ({ section }) => ids[section]);
  const columnsText = JSON.stringify(columns);
  const planned = files.map((file) => {
    const { sectionId, firstItem, itemCount } = file;
    const ofFile = cutRanges(ranges.get(sectionId) ?? [], firstItem, firstItem + itemCount);
    const section = sections.find(({ id }) => id === sectionId)?.name ?? '';
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
  // Groups of small tables are encoded together.
  async function* batches() {
    yield* cutBefore(
      missing.flatMap(groupsOf),
      (batch, next) => bytesOf(batch) + next.bytes > GROUP_BYTES || itemsOf(batch) + next.items > GROUP_ITEMS,
    );
  }
  const encoded = mapOrdered(batches(), GROUPS_AT_ONCE, async (groups) => ({
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

function groupsOf({ table, ranges }: { readonly table: Table; readonly ranges: readonly SectionRange[] }) {
  const { firstItem, groupItems, groupBytes } = table.file;
  let from = firstItem;
  return groupItems.map((items, index) => {
    const ofGroup = cutRanges(ranges, from, from + items);
    from += items;
    return { table, section: table.section, ranges: ofGroup, items, bytes: groupBytes[index] ?? 0 };
  });
}

/** The next group is read while one is encoded. */
const GROUPS_AT_ONCE = 2;

export type TableFacts = Awaited<ReturnType<typeof readColumns>>;

/** Types depend on all items: reads those that no profile is kept of, and keeps it. */
export async function readColumns(
  { hubFiles, encoder }: { readonly hubFiles: Store['hubFiles']; readonly encoder: ItemEncoder },
  sections: readonly StoredSection[],
  signal: AbortSignal,
) {
  const ranges = await hubFiles.ranges(
    sections.map(({ id }) => id),
    signal,
  );
  const parts = [...new Set(ranges.map(({ partId }) => partId))];
  const kept = new Map(
    (await hubFiles.findProfiles(parts, signal)).map((each) => [nameOf(each), each.profile]),
  );
  const all = emptyProfile();
  const kinds = sections.map(() => 0);
  const addTo = (section: number, profile: Profile): void => {
    addProfile(all, profile);
    kinds[section] = (kinds[section] ?? 0) | profile.kinds;
  };
  const unknown: SectionRange[] = [];
  for (const block of ranges.flatMap(cutBlocks)) {
    const known = kept.get(nameOf(block));
    const found = known === undefined ? undefined : parseProfile(known);
    if (found?.items !== block.count) unknown.push(block);
    else addTo(block.section, found.profile);
  }
  const blocks = new ProfileBlocks();
  const groups = groupItems(hubFiles, unknown, signal);
  const read = mapOrdered(groups, GROUPS_AT_ONCE, async (group) => ({
    group,
    profiles: await encoder.profile(group.ranges, signal),
  }));
  for await (const { group, profiles } of read) {
    for (const [index, { partId, first, count: items, section }] of group.ranges.entries()) {
      const profile = profiles[index] ?? emptyProfile();
      addTo(section, profile);
      blocks.add({ partId, first, items, profile });
    }
    await hubFiles.addProfiles(blocks.take());
  }
  const splits = splitNames(sections.map(({ name }) => name));
  const known = sections.map((section, index) => {
    return { ...section, split: splits[index] ?? '', kinds: kinds[index] ?? 0 };
  });
  const tasks = await planTasks(
    hubFiles,
    known.filter(({ itemCount }) => itemCount > 0),
    signal,
  );
  return { columns: planColumns(all), tasks };
}

const nameOf = ({ partId, first }: Pick<SectionRange, 'partId' | 'first'>): string => `${partId} ${first}`;

/** Cuts a range where blocks of its part end. */
function cutBlocks(range: SectionRange): readonly SectionRange[] {
  const blocks: SectionRange[] = [];
  for (let from = 0; from < range.count; ) {
    const to = Math.min(range.count, from + PROFILE_ITEMS - ((range.first + from) % PROFILE_ITEMS));
    blocks.push(...cutRange(range, from, to));
    from = to;
  }
  return blocks;
}
