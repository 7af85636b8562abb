import {
  createSectionHasher,
  type EncodedItem,
  encodeItem,
  fileReferences,
  type ItemInput,
  JsonlError,
  parseItem,
  type SourceLocation,
  versionHash,
} from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { checkNames } from '../package/manifest.ts';
import { missingFile } from '../package/open-archive.ts';
import type { ExportDataset, ExportSection } from './export-dataset.ts';

/** A dataset whose items are values in memory. */
export interface ItemsDataset {
  readonly name: string;
  readonly description?: string | null;
  readonly notes?: string | null;
  /** The provenance of the items, written to `meta.json`. */
  readonly schema?: JsonObject;
  /** In order. */
  readonly sections: readonly { readonly name: string; readonly items: Iterable<ItemInput> }[];
}

/**
 * Makes a dataset for `writePackage` and `writePackageStream` from items in memory: checks and encodes each item, and
 * computes the hashes. Items are plain JavaScript values; a number that a double would round is an `ExactNumber`.
 *
 * @throws JsonlError `not_an_object`, `invalid_item`, `invalid_asset`, `invalid_json` with the section as the
 *   location's `file`, the item's index as its `row` and a JSON Pointer as its `path`; PackageError
 *   `package_missing_file` with the same location for an asset or checker whose content the item does not embed;
 *   `package_no_sections`, `package_invalid_json` for an invalid or duplicate name
 * @example
 * const item = { inputs: { prompt: '2+2?' }, answer: 4 };
 * const bytes = await writePackage(datasetFromItems({ name: 'Sums', sections: [{ name: 'train', items: [item] }] }));
 */
export function datasetFromItems(dataset: ItemsDataset): ExportDataset {
  checkNames(
    dataset.name,
    dataset.sections.map(({ name }) => name),
  );
  const sections = dataset.sections.map(({ name, items }) => sectionFromItems(name, items));
  return {
    name: dataset.name,
    description: dataset.description ?? null,
    notes: dataset.notes ?? null,
    schema: canonicalJson(dataset.schema ?? {}),
    versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)),
    sections,
  };
}

/**
 * Checks and encodes an item.
 *
 * @throws as `datasetFromItems`
 */
export function encodeValue(value: ItemInput, location: SourceLocation): EncodedItem {
  try {
    const item = parseItem(value, location);
    for (const { path, pointer } of fileReferences(item))
      throw missingFile(path, { ...location, path: pointer });
    return encodeItem(item);
  } catch (error) {
    if (!(error instanceof JsonlError) || error.location.file !== undefined) throw error;
    throw new JsonlError(error.code, error.message, { ...error.location, ...location }, { cause: error });
  }
}

function sectionFromItems(name: string, items: Iterable<ItemInput>): ExportSection {
  const encoded: EncodedItem[] = [];
  const hasher = createSectionHasher(name);
  for (const value of items) {
    const item = encodeValue(value, { file: name, row: encoded.length });
    hasher.add(item.itemHash);
    encoded.push(item);
  }
  return {
    name,
    itemCount: encoded.length,
    sectionHash: hasher.digest(),
    exportFile: null,
    items: async function* () {
      yield encoded;
    },
    async itemAt(orderIndex) {
      const item = encoded[orderIndex];
      if (item === undefined) throw new RangeError(`Section ${name} has no item ${orderIndex}.`);
      return item;
    },
  };
}
