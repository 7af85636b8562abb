import { createSectionHasher, type EncodedItem, encodeItem, parseItem, versionHash } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ExportDataset, ExportSection } from './export-dataset.ts';

/** A dataset whose items are values in memory. */
export interface ItemsDataset {
  readonly name: string;
  readonly description?: string | null;
  readonly notes?: string | null;
  /** The provenance of the items, written to `meta.json`. */
  readonly schema?: JsonObject;
  /** In order. */
  readonly sections: readonly { readonly name: string; readonly items: Iterable<JsonValue> }[];
}

/**
 * Makes a dataset for `writePackage` and `writePackageStream` from items in memory: checks and encodes each item, and
 * computes the hashes. Items are plain JavaScript values; a number that a double would round is an `ExactNumber`.
 *
 * @throws JsonlError `not_an_object`, `invalid_item`, `invalid_asset`, `invalid_json` with the section as the
 *   location's `file` and the item's index as its `row`
 * @example
 * const item = { inputs: { prompt: '2+2?' }, answer: 4 };
 * const bytes = await writePackage(datasetFromItems({ name: 'Sums', sections: [{ name: 'train', items: [item] }] }));
 */
export function datasetFromItems(dataset: ItemsDataset): ExportDataset {
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

function sectionFromItems(name: string, items: Iterable<JsonValue>): ExportSection {
  const encoded: EncodedItem[] = [];
  const hasher = createSectionHasher(name);
  for (const value of items) {
    const item = encodeItem(parseItem(value, { file: name, row: encoded.length }));
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
