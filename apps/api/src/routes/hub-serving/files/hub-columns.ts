import { ITEM_COLUMNS, ItemRow, type ItemTarget, itemTarget } from '@svc/service/item-columns';
import {
  agree,
  type ItemImages,
  imageNames,
  imagesOf,
  type LinkedImage,
  membersOf,
  type Profile,
  typeOf,
  type UnpackedItem,
  type ValueType,
} from '@svc/service/store/rows';
import type { ParquetColumn, ParquetImage } from '@svc/tabular/write';

export type HubColumn = {
  readonly name: string;
} & (
  | { readonly from: 'item'; readonly type: ValueType }
  | { readonly from: 'target'; readonly type: 'string' }
  | { readonly from: 'choices'; readonly type: 'strings' }
  | { readonly from: 'meta'; readonly key: string; readonly type: ValueType }
  | { readonly from: 'asset'; readonly key: string; readonly type: 'image' }
  | { readonly from: 'list'; readonly type: 'images' }
);

/** Longer names get no column. */
const MAX_NAME_LENGTH = 256;

/** The columns for the items of a profile: those of `items.parquet`, those for Inspect, then keys of `meta`, then images. */
export function planColumns(profile: Profile): readonly HubColumn[] {
  const answer = typeOf(profile.answer) ?? 'string';
  const columns: HubColumn[] = ITEM_COLUMNS.map(({ name, type }) => {
    return { name, from: 'item', type: name === 'answer' ? answer : type };
  });
  columns.push({ name: 'target', from: 'target', type: 'string' });
  columns.push({ name: 'choice_texts', from: 'choices', type: 'strings' });
  const keys = [...(profile.meta ?? [])].filter(([, kinds]) => agree(kinds));
  const taken = new Set(columns.map(({ name }) => name));
  for (const [name, [key, kinds]] of named(keys, taken, 'meta')) {
    columns.push({ name, from: 'meta', key, type: typeOf(kinds) ?? 'string' });
  }
  const images = imageNames(profile).map((name) => [name] as const);
  for (const [name, [key]] of named(images, taken, 'assets')) {
    columns.push({ name, from: 'asset', key, type: 'image' });
  }
  if (profile.hasListedImages) {
    for (const [name] of named([['images']], taken, 'assets'))
      columns.push({ name, from: 'list', type: 'images' });
  }
  return columns;
}

/** Names for columns of keys, in the order of the keys. A key that has the name of a column gets a prefix. */
function named<Entry extends readonly [key: string, ...rest: unknown[]]>(
  entries: readonly Entry[],
  taken: Set<string>,
  prefix: string,
): readonly (readonly [name: string, entry: Entry])[] {
  const usable = entries
    .filter(([key]) => key.isWellFormed() && key.length <= MAX_NAME_LENGTH)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const isFree = ([key]: Entry): boolean => key !== '' && !taken.has(key);
  const names = new Map(usable.filter(isFree).map((entry) => [entry, entry[0]]));
  for (const name of names.values()) taken.add(name);
  for (const entry of usable.filter((each) => !names.has(each))) {
    let name = `${prefix}.${entry[0]}`;
    while (taken.has(name)) name = `${prefix}.${name}`;
    taken.add(name);
    names.set(entry, name);
  }
  return usable.map((entry) => [names.get(entry) ?? '', entry]);
}

export class HubRow {
  readonly table: ItemRow;
  #meta: ReadonlyMap<string, string> | undefined;
  #images: ItemImages | undefined;
  #target: ItemTarget | undefined;

  constructor(item: UnpackedItem, section: string) {
    this.table = new ItemRow({ ...item, section, sectionOrderIndex: 0 });
  }

  meta(key: string): string | null {
    const text = this.table.member('meta');
    this.#meta ??= text?.startsWith('{') ? membersOf(text) : new Map();
    return this.#meta.get(key) ?? null;
  }

  get target(): ItemTarget {
    this.#target ??= itemTarget(this.table);
    return this.#target;
  }

  get images(): ItemImages {
    this.#images ??= imagesOf(this.table.item);
    return this.#images;
  }
}

/** The columns as the writer wants them. @param contents of the images by their hash */
export function parquetColumns(
  columns: readonly HubColumn[],
  contents: ReadonlyMap<string, Uint8Array>,
): readonly ParquetColumn<HubRow>[] {
  const load = (images: readonly LinkedImage[]): readonly ParquetImage[] =>
    images.map(({ sha256, path }) => {
      const bytes = contents.get(sha256);
      if (bytes === undefined) throw new Error(`The content of ${sha256} was not read.`);
      return { bytes, path };
    });
  return columns.map((column) => parquetColumn(column, load));
}

function parquetColumn(
  column: HubColumn,
  load: (images: readonly LinkedImage[]) => readonly ParquetImage[],
): ParquetColumn<HubRow> {
  const { name } = column;
  switch (column.from) {
    case 'item': {
      const item = ITEM_COLUMNS.find((each) => each.name === name);
      return valueColumn(name, column.type, ({ table }) => item?.json(table) ?? null);
    }
    case 'target':
      return valueColumn(name, 'string', ({ target: { target } }) => target && JSON.stringify(target));
    case 'choices':
      return { name, type: 'strings', texts: ({ target: { choices } }) => choices };
    case 'meta':
      return valueColumn(name, column.type, (row) => row.meta(column.key));
    case 'asset':
      return {
        name,
        type: 'image',
        images: ({ images }) => {
          const image = images.named.get(column.key);
          return image === undefined ? null : load([image]);
        },
      };
    case 'list':
      return {
        name,
        type: 'images',
        images: ({ table, images }) => (table.item.assets?.startsWith('[') ? load(images.listed) : null),
      };
  }
}

/** The columns as a footer names them. JSON is plain text in these files: readers would make other values of it, and lose digits. */
export function storedColumns(
  columns: readonly HubColumn[],
): readonly Pick<ParquetColumn<never>, 'name' | 'type'>[] {
  return columns.map(({ name, type }) => ({ name, type: type === 'json' ? 'string' : type }));
}

function valueColumn(
  name: string,
  type: ValueType,
  json: (row: HubRow) => string | null,
): ParquetColumn<HubRow> {
  if (type !== 'json') return { name, type, json };
  return {
    name,
    type: 'string',
    json: (row) => {
      const text = json(row);
      return text === null || text === 'null' ? null : JSON.stringify(text);
    },
  };
}

const DTYPES = { string: 'string', json: 'string', int64: 'int64', double: 'float64', bool: 'bool' } as const;

/** The features of columns as the `datasets` library has them in the metadata of files. */
export function featuresOf(columns: readonly HubColumn[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    columns.map(({ name, type }) => {
      if (type === 'image') return [name, { _type: 'Image' }];
      if (type === 'images') return [name, { feature: { _type: 'Image' }, _type: 'List' }];
      if (type === 'strings') return [name, { feature: { dtype: 'string', _type: 'Value' }, _type: 'List' }];
      return [name, { dtype: DTYPES[type], _type: 'Value' }];
    }),
  );
}
