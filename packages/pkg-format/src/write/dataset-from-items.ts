import {
  createSectionHasher,
  type EncodedItem,
  encodeItem,
  fileReferences,
  type ItemInput,
  JsonlError,
  joinItem,
  parseItem,
  type SourceLocation,
  versionHash,
} from '@svc/jsonl-v23';
import { checkItemSize } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
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

/** A dataset whose items are encoded. */
export function withSections(
  { name, description = null, notes = null }: Pick<ItemsDataset, 'name' | 'description' | 'notes'>,
  schema: JsonObject,
  sections: readonly ExportSection[],
): ExportDataset {
  const hash = versionHash(sections.map(({ sectionHash }) => sectionHash));
  return { name, description, notes, schema: canonicalJson(schema), versionHash: hash, sections };
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
    const encoded = encodeItem(item);
    checkLine(encoded, location);
    return encoded;
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { code, message } = error;
    const located = new JsonlError(code, message, { ...error.location, ...location }, { cause: error });
    throw toPackageError(located, location.file ?? '');
  }
}

/** Refuses what no reader takes: an item that is too long, or too deep. */
function checkLine(encoded: EncodedItem, location: SourceLocation): void {
  const { maxLineBytes, maxDepth } = DEFAULT_LIMITS;
  try {
    checkItemSize(encoded.byteLength, 0, { maxItemBytes: maxLineBytes, location });
    const { payload, answer, checker, assets } = encoded;
    // Only an item with more brackets can be too deep, and few have so many: they are parsed.
    if (bracketsOf([payload, answer, checker, assets], maxDepth) < maxDepth) return;
    parseJson(joinItem(encoded), { maxDepth, location });
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    // The error's line and column are in a text that the caller never saw.
    const located = new JsonlError(error.code, error.message, location, { cause: error });
    throw toPackageError(located, location.file ?? '');
  }
}

/** Opening brackets in these texts, in strings too; at most `max`. */
function bracketsOf(texts: readonly (string | null)[], max: number): number {
  let count = 0;
  for (const text of texts) {
    if (text === null) continue;
    for (const bracket of ['[', '{']) {
      for (let at = text.indexOf(bracket); at !== -1 && count < max; at = text.indexOf(bracket, at + 1))
        count += 1;
    }
  }
  return count;
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
