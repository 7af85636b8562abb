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
import { checkItemSize } from '@svc/jsonl-v23/assets';
import { canonicalJson, isDeeper, type JsonObject } from '@svc/jsonl-v23/json';
import { missingFile, toPackageError } from '../errors.ts';
import { DEFAULT_LIMITS } from '../limits.ts';
import { checkNames } from '../package/layout.ts';

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
 * @throws PackageError with the codes of a reader: `package_invalid_line` for a value that is not an item, with the section
 *   as the location's `file`, the item's index as its `row` and a JSON Pointer as its `path`; with the same location
 *   `package_missing_file` for an asset or checker whose content the item does not embed, `package_limit` for an item
 *   longer and `package_invalid_line` for one deeper than the limits of a reader; `package_no_sections`,
 *   `package_invalid_json` for an invalid or duplicate name; TypeError for a member that does not exist
 * @example
 * const item = { inputs: { prompt: '2+2?' }, answer: 4 };
 * const bytes = await writePackage(datasetFromItems({ name: 'Sums', sections: [{ name: 'train', items: [item] }] }));
 */
export function datasetFromItems(dataset: ItemsDataset): ExportDataset {
  checkNames(dataset);
  const sections = dataset.sections.map(({ name, items }) => sectionFromItems(name, items));
  return withSections(dataset, dataset.schema ?? {}, sections);
}

export function withSections(
  { name, description = null, notes = null }: Pick<ItemsDataset, 'name' | 'description' | 'notes'>,
  schema: JsonObject,
  sections: readonly ExportSection[],
): ExportDataset {
  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  return { name, description, notes, schema: canonicalJson(schema), versionHash: hash, sections };
}

export function encodeValue(value: ItemInput, location: SourceLocation): EncodedItem {
  try {
    const item = parseItem(value, location);
    for (const { path, pointer } of fileReferences(item))
      throw missingFile(path, { ...location, path: pointer });
    const encoded = encodeItem(item);
    // Refuses what no reader takes.
    const { maxLineBytes, maxDepth } = DEFAULT_LIMITS;
    checkItemSize(encoded.byteLength, 0, { maxItemBytes: maxLineBytes, location });
    if (isDeeper(item, maxDepth)) {
      throw new JsonlError('nesting_too_deep', `The value is nested more than ${maxDepth} levels deep`);
    }
    return encoded;
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { code, message } = error;
    const located = new JsonlError(code, message, { ...error.location, ...location }, { cause: error });
    throw toPackageError(located, location.file ?? '');
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
