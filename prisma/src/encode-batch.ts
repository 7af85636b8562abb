import type { EncodedRows, NeedsFiles } from '@svc/flows';
import {
  assetEntries,
  type EncodedItem,
  encodeItem,
  fileReferences,
  getMember,
  type Item,
  isEmbeddedChecker,
  joinItem,
  type LineBatch,
  parseLines,
} from '@svc/jsonl-v23';
import { encodeRows } from './encode-rows.ts';

const HASH_BYTES = 32;

/** Where the rows of a batch go. */
export interface BatchTarget {
  /** uuid of the section */
  readonly sectionId: string;
  /** order index of the batch's first item */
  readonly firstOrderIndex: number;
}

/**
 * The whole work on a batch of lines: parse, validate, canonical text, hash, rows. A pure function of its
 * arguments, so it runs wherever it is called: here or on a worker thread.
 *
 * @throws JsonlError with the place, as `parseLines` does
 */
export function encodeBatch(
  batch: LineBatch,
  target: BatchTarget,
  options: { readonly file: string; readonly maxDepth: number },
): EncodedRows | NeedsFiles {
  const items = parseLines(batch, options).map(({ item }) => item);
  if (items.some((item) => fileReferences(item).length > 0)) return { needsFiles: true };
  return encodeItems(items, target);
}

/** The same for items that are at hand, such as those of a hub's rows. */
export function encodeItems(items: readonly Item[], target: BatchTarget): EncodedRows {
  const encoded = items.map((item) => encodeItem(item));
  const itemHashes = new Uint8Array(encoded.length * HASH_BYTES);
  let assetCount = 0;
  for (const [index, item] of encoded.entries()) {
    itemHashes.set(item.itemHash, index * HASH_BYTES);
    assetCount += item.assetCount;
  }
  return {
    rows: encodeRows(encoded, target.sectionId, target.firstOrderIndex),
    itemCount: encoded.length,
    itemHashes,
    assetCount,
    lines: items.some(embedsFile) ? null : linesOf(encoded),
  };
}

/** Whether an export moves something of the item into a file. */
function embedsFile(item: Item): boolean {
  return (
    assetEntries(item).some(({ entry }) => Object.hasOwn(entry, 'data')) ||
    isEmbeddedChecker(getMember(item, 'checker'))
  );
}

function linesOf(encoded: readonly EncodedItem[]): Uint8Array {
  let text = '';
  for (const item of encoded) text += `${joinItem(item)}\n`;
  return Buffer.from(text);
}
