import { createHash, type Hash } from 'node:crypto';
import { mapOrdered } from '@svc/concurrency';
import { splitNames } from '@svc/jsonl-v23/internal';
import type { HubFile, Store, StoredSection } from '@svc/store';
import { PARQUET_MAGIC, parquetFooter, parquetWriterVersion, type RowGroup } from '@svc/tabular/write';
import type { ItemEncoder, ItemGroup } from '../thread/item-encoder.ts';
import { featuresOf, type HubColumn, planColumns, storedColumns } from './hub-columns.ts';
import { addProfile, emptyProfile } from './profile.ts';

/** A change to the bytes of files needs another number. */
const FILES_VERSION = 1;

/** Identifies the code that makes the bytes of files. */
export const filesFormat = (): string => `${FILES_VERSION}, ${parquetWriterVersion()}`;

/** A group ends with the item that brings it to one of these, counted in bytes of items. */
const GROUP_BYTES = 1024 * 1024;
const GROUP_ITEMS = 10_000;
/** The next group is read while one is encoded. */
const GROUPS_AT_ONCE = 2;
/** A file ends when it has reached this many bytes, or would exceed this many rows. */
const FILE_BYTES = 3.5 * 1024 * 1024;
const FILE_ROWS = 100_000;

/** A version of a dataset. */
export interface VersionKey {
  readonly datasetId: string;
  readonly version: number;
}

/** What the files of a version are made from and kept in. */
export interface LayoutDeps {
  readonly store: Pick<Store, 'hubFiles' | 'reads'>;
  readonly encoder: ItemEncoder;
}

/**
 * Makes the files of a version once, and gives each to `add` with what makes its bytes again: items, groups and footer.
 * Reads the items twice: types of columns depend on all of them. Holds some groups, and the footers of a section.
 *
 * @returns the columns of the tables
 * @throws StoreError of reading
 */
export async function layoutVersion(
  deps: LayoutDeps,
  key: VersionKey,
  add: (file: HubFile) => Promise<void>,
  signal: AbortSignal,
): Promise<readonly HubColumn[]> {
  const sections = await readSections(deps.store, key, signal);
  const splits = splitNames(sections.map(({ name }) => name));
  const { assetCount } = await deps.store.reads.datasets.get(key.datasetId, { version: key.version, signal });
  const hasFiles = assetCount > 0;
  const profile = emptyProfile();
  for (const [index, section] of sections.entries()) {
    const file = new FileTotals(createHash('sha256'));
    const groups = itemGroups(deps.store, section, hasFiles, signal);
    for await (const { group, encoded } of encodeAll(deps, groups, null, signal)) {
      if (encoded.profile !== null) addProfile(profile, encoded.profile);
      file.add(group, encoded.bytes, 0, null);
    }
    await add(file.end(section, `items/${splits[index]}.jsonl`, new Uint8Array()));
  }
  const columns = planColumns(profile);
  for (const [index, section] of sections.entries()) {
    const files = await layoutTables(deps, { section, hasFiles, columns }, signal);
    for (const [number, { totals, footer }] of files.entries()) {
      const name = `${splits[index]}-${five(number)}-of-${five(files.length)}.parquet`;
      await add(totals.end(section, `data/${name}`, footer));
    }
  }
  return columns;
}

const five = (number: number): string => String(number).padStart(5, '0');

/** All sections of a version, in order. */
export async function readSections(
  { reads }: Pick<Store, 'reads'>,
  { datasetId, version }: VersionKey,
  signal: AbortSignal,
): Promise<readonly StoredSection[]> {
  const sections: StoredSection[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const request = { limit: 1_000, version, signal, ...(cursor === undefined ? {} : { cursor }) };
    const page = await reads.datasets.listSections(datasetId, request);
    sections.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  }
  return sections;
}

/** The items of a section in groups, which depend on the sizes of items alone. */
async function* itemGroups(
  { hubFiles }: Pick<Store, 'hubFiles'>,
  section: StoredSection,
  hasFiles: boolean,
  signal: AbortSignal,
): AsyncGenerator<ItemGroup> {
  for (let from = 0; from < section.itemCount; ) {
    const sizes = await hubFiles.itemSizes(
      { section, from, to: Math.min(from + GROUP_ITEMS, section.itemCount) },
      signal,
    );
    let bytes = 0;
    let start = from;
    for (const [index, size] of sizes.entries()) {
      bytes += size;
      if (bytes < GROUP_BYTES && index + from + 1 - start < GROUP_ITEMS) continue;
      yield { section, from: start, to: from + index + 1, hasFiles };
      start = from + index + 1;
      bytes = 0;
    }
    const isLast = from + sizes.length === section.itemCount;
    if (isLast && start < section.itemCount) yield { section, from: start, to: section.itemCount, hasFiles };
    from = isLast ? section.itemCount : start;
  }
}

async function* encodeAll(
  { encoder }: LayoutDeps,
  groups: AsyncIterable<ItemGroup>,
  columns: readonly HubColumn[] | null,
  signal: AbortSignal,
): AsyncGenerator<{
  readonly group: ItemGroup;
  readonly encoded: Awaited<ReturnType<ItemEncoder['encode']>>;
}> {
  yield* mapOrdered(groups, GROUPS_AT_ONCE, async (group) => {
    const table = columns === null ? null : { section: group.section.name, columns };
    return { group, encoded: await encoder.encode(group, table, signal) };
  });
}

/** The tables of a section, one at least. */
async function layoutTables(
  deps: LayoutDeps,
  {
    section,
    hasFiles,
    columns,
  }: {
    readonly section: StoredSection;
    readonly hasFiles: boolean;
    readonly columns: readonly HubColumn[];
  },
  signal: AbortSignal,
): Promise<readonly { readonly totals: FileTotals; readonly footer: Uint8Array }[]> {
  const files: { readonly totals: FileTotals; readonly footer: Uint8Array }[] = [];
  const metadata = { huggingface: JSON.stringify({ info: { features: featuresOf(columns) } }) };
  const begin = (): FileTotals => new FileTotals(createHash('sha256').update(PARQUET_MAGIC));
  let totals = begin();
  const end = (): void => {
    const footer = parquetFooter(storedColumns(columns), totals.rowGroups, metadata);
    files.push({ totals, footer });
    totals = begin();
  };
  const groups = itemGroups(deps.store, section, hasFiles, signal);
  for await (const { group, encoded } of encodeAll(deps, groups, columns, signal)) {
    if (totals.itemCount + group.to - group.from > FILE_ROWS) end();
    const chunks = encoded.group?.chunks ?? [];
    const tableBytes = chunks.reduce((sum, { uncompressedBytes }) => sum + uncompressedBytes, 0);
    totals.add(group, encoded.bytes, tableBytes, encoded.group);
    if (totals.groupByteLength >= FILE_BYTES) end();
  }
  if (totals.itemCount > 0 || files.length === 0) end();
  return files;
}

/** What is known of a file while its groups come. */
class FileTotals {
  readonly #hash: Hash;
  readonly #groupItems: number[] = [];
  readonly #groupBytes: number[] = [];
  #firstItem = 0;
  #tableBytes = 0;
  readonly rowGroups: RowGroup[] = [];
  itemCount = 0;
  groupByteLength = 0;

  /** @param hash of the bytes before the groups */
  constructor(hash: Hash) {
    this.#hash = hash;
  }

  add({ from, to }: ItemGroup, bytes: Uint8Array, tableBytes: number, rowGroup: RowGroup | null): void {
    if (this.#groupItems.length === 0) this.#firstItem = from;
    this.#hash.update(bytes);
    this.#groupItems.push(to - from);
    this.#groupBytes.push(bytes.byteLength);
    this.#tableBytes += tableBytes;
    if (rowGroup !== null) this.rowGroups.push(rowGroup);
    this.itemCount += to - from;
    this.groupByteLength += bytes.byteLength;
  }

  /** The file. @param footer the bytes behind the groups */
  end({ id }: StoredSection, path: string, footer: Uint8Array): HubFile {
    return {
      path,
      sectionId: id,
      firstItem: this.#firstItem,
      itemCount: this.itemCount,
      byteLength: headOf(path).byteLength + this.groupByteLength + footer.byteLength,
      tableBytes: this.#tableBytes,
      sha256: this.#hash.update(footer).digest('hex'),
      groupItems: this.#groupItems,
      groupBytes: this.#groupBytes,
      footer,
    };
  }
}

/** The bytes before the groups of a file. */
export const headOf = (path: string): Uint8Array => (isTable(path) ? PARQUET_MAGIC : new Uint8Array());

/** Whether a file is a table, else lines of items. */
export const isTable = (path: string): boolean => path.startsWith('data/');
