import { createHash } from 'node:crypto';
import { splitNames } from '@svc/jsonl-v23';
import {
  cutRange,
  type HubFile,
  type LayoutKey,
  type SectionRange,
  type Store,
  type StoredSection,
} from '@svc/service/store';
import { parquetWriterVersion } from '@svc/tabular/write';

/** A change to the bytes of files needs another number. */
const FILES_VERSION = 3;

export const filesFormat = (): string => `${FILES_VERSION}, ${parquetWriterVersion()}`;

/** A group ends with the item that brings it to one of these, counted in bytes of lines. */
export const GROUP_BYTES: number = 1024 * 1024;
export const GROUP_ITEMS = 10_000;
/** A table ends with the group that brings it to this, or before the one with which it would exceed these rows. */
const TABLE_BYTES = 4 * 1024 * 1024;
const TABLE_ROWS = 100_000;
/** Sizes that one statement reads, and ranges of it. */
const SIZES_PER_READ = 50_000;
const RANGES_PER_READ = 2_000;

export type VersionKey = Pick<LayoutKey, 'datasetId' | 'version'>;

export interface ItemGroup {
  readonly ranges: readonly SectionRange[];
  readonly items: number;
  readonly bytes: number;
}

/** Depends on the sizes of items alone, so that names are known before anything is made. */
export async function planFiles(
  hubFiles: Pick<Store['hubFiles'], 'ranges' | 'lineSizes'>,
  sections: readonly StoredSection[],
  signal: AbortSignal,
): Promise<readonly HubFile[]> {
  const ids = sections.map(({ id }) => id);
  const groups = sections.map((): Pick<ItemGroup, 'items' | 'bytes'>[] => []);
  const ranges = await hubFiles.ranges(ids, signal);
  for await (const { items, bytes, ranges: some } of groupItems(hubFiles, ranges, signal, true)) {
    groups[some[0]?.section ?? 0]?.push({ items, bytes });
  }
  const splits = splitNames(sections.map(({ name }) => name));
  return sections.flatMap((section, index) => {
    const ofSection = groups[index] ?? [];
    const cut = cutBefore(
      ofSection,
      (table, next) => bytesOf(table) >= TABLE_BYTES || itemsOf(table) + next.items > TABLE_ROWS,
    );
    const tables = cut.length === 0 ? [[]] : cut;
    let firstItem = 0;
    const lines = toFile(`items/${splits[index]}.jsonl`, section, 0, ofSection);
    return [
      {
        ...lines,
        byteLength: bytesOf(ofSection),
        // A section never changes, and versions share it.
        tag: createHash('sha256').update(`${FILES_VERSION}, ${section.id}`).digest('hex'),
      },
      ...tables.map((table, number) => {
        const path = `data/${splits[index]}-${five(number)}-of-${five(tables.length)}.parquet`;
        const file = toFile(path, section, firstItem, table);
        firstItem += file.itemCount;
        return file;
      }),
    ];
  });
}

const five = (number: number): string => String(number).padStart(5, '0');

type Groups = readonly Pick<ItemGroup, 'items' | 'bytes'>[];

function toFile(path: string, { id }: StoredSection, firstItem: number, groups: Groups): HubFile {
  return {
    path,
    sectionId: id,
    firstItem,
    itemCount: itemsOf(groups),
    groupItems: groups.map(({ items }) => items),
    groupBytes: groups.map(({ bytes }) => bytes),
    byteLength: null,
    tag: null,
  };
}

export function cutBefore<T>(
  entries: readonly T[],
  isFull: (piece: readonly T[], next: T) => boolean,
): readonly T[][] {
  const pieces: T[][] = [];
  for (const entry of entries) {
    const last = pieces.at(-1);
    if (last === undefined || isFull(last, entry)) pieces.push([entry]);
    else last.push(entry);
  }
  return pieces;
}

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

export const itemsOf = (groups: Groups): number => sumOf(groups.map(({ items }) => items));
export const bytesOf = (groups: Groups): number => sumOf(groups.map(({ bytes }) => bytes));

export async function readSections(
  { datasets }: Pick<Store, 'datasets'>,
  { datasetId, version }: VersionKey,
  signal: AbortSignal,
): Promise<readonly StoredSection[]> {
  const sections: StoredSection[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const request = { limit: 1_000, version, signal, ...(cursor === undefined ? {} : { cursor }) };
    const page = await datasets.listSections(datasetId, request);
    sections.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  }
  return sections;
}

/** The items of ranges in groups that fit in memory. @param isBySection whether a group also ends with its section */
export async function* groupItems(
  hubFiles: Pick<Store['hubFiles'], 'lineSizes'>,
  ranges: readonly SectionRange[],
  signal: AbortSignal,
  isBySection = false,
): AsyncGenerator<ItemGroup> {
  let group: SectionRange[] = [];
  let [items, bytes] = [0, 0];
  const take = (): ItemGroup => {
    const taken = { ranges: group, items, bytes };
    [group, items, bytes] = [[], 0, 0];
    return taken;
  };
  for (const some of batchesOf(ranges)) {
    const sizes = await hubFiles.lineSizes(some, signal);
    let at = 0;
    for (const range of some) {
      if (isBySection && items > 0 && group[0]?.section !== range.section) yield take();
      let from = 0;
      for (let index = 0; index < range.count; index += 1, at += 1) {
        bytes += sizes[at] ?? 0;
        items += 1;
        if (bytes < GROUP_BYTES && items < GROUP_ITEMS) continue;
        group.push(...cutRange(range, from, index + 1));
        yield take();
        from = index + 1;
      }
      group.push(...cutRange(range, from, range.count));
    }
  }
  if (items > 0) yield take();
}

function* batchesOf(ranges: readonly SectionRange[]): Generator<readonly SectionRange[]> {
  let batch: SectionRange[] = [];
  let items = 0;
  for (const range of ranges) {
    for (let from = 0; from < range.count; ) {
      const to = Math.min(range.count, from + SIZES_PER_READ - items);
      batch.push(...cutRange(range, from, to));
      items += to - from;
      from = to;
      if (items < SIZES_PER_READ && batch.length < RANGES_PER_READ) continue;
      yield batch;
      [batch, items] = [[], 0];
    }
  }
  if (batch.length > 0) yield batch;
}
