import { createSectionHasher, type EncodedItem, encodeItem, parseItem, versionHash } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ExportDataset, ExportSection } from './export-dataset.ts';

/** A dataset whose items are values in memory. */
export interface ItemsDataset {
  readonly name: string;
  readonly description?: string | null;
  readonly notes?: string | null;
  /** Where the items come from; kept in `meta.json`. */
  readonly schema?: JsonObject;
  /** In order. */
  readonly sections: readonly { readonly name: string; readonly items: Iterable<JsonValue> }[];
}

/**
 * Makes what `writePackage` and `writePackageStream` take out of items in memory: checks and encodes each, and computes
 * the hashes. Values that JavaScript's own literals give are fine; numbers that a double would lose are `ExactNumber`.
 *
 * @throws JsonlError `not_an_object`, `invalid_item`, `invalid_asset`, `invalid_json` with the section as the place's
 *   `file` and the item's index as its `row`
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
    itemAt: async (orderIndex) => encoded[orderIndex]!,
  };
}
