import { encodeBase64 } from '#native';
import { canonicalByteLength } from '../json/canonical/canonical-json.ts';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import {
  assetEntries,
  type FileReference,
  fileReferences,
  filledEntry,
  mapEntries,
  referencedPath,
} from './asset.ts';
import type { Item } from './item.ts';
import { EmbeddedSize, type ItemSizeOptions } from './item-size.ts';

/**
 * Embeds the files that an item refers to (`fileReferences`): each entry gets `encoding: "base64"` and `data`,
 * an asset without `mime_type` gets the one of its file's extension; `path` stays. The given item is not
 * changed. Files are read and counted one after another, so that `maxItemBytes` bounds memory however many entries refer
 * to one file; base64 text is made once the size of the item is known.
 *
 * @throws JsonlError `line_too_long` with `location`, for an item over `maxItemBytes` with its files or with over 10,000
 * files; what `readFile` throws
 */
export async function rehydrateItem(
  item: Item,
  readFile: (reference: FileReference) => Promise<Uint8Array>,
  options: ItemSizeOptions = {},
): Promise<Item> {
  const references = fileReferences(item);
  if (references.length === 0) return item;
  const size = new EmbeddedSize(canonicalByteLength(item), options);
  const contents: Uint8Array[] = [];
  for (const reference of references) {
    const bytes = await readFile(reference);
    size.add(reference, bytes.byteLength);
    contents.push(bytes);
  }
  return embedFiles(item, contents);
}

/** As `rehydrateItem`, with the contents of `fileReferences` in order; entries of one array share one base64 text. */
export function embedFiles(item: Item, contents: readonly Uint8Array[]): Item {
  const texts = new Map<Uint8Array, string>();
  let next = 0;
  const nextText = (): string => {
    const bytes = contents[next++] as Uint8Array;
    const text = texts.get(bytes) ?? encodeBase64(bytes);
    texts.set(bytes, text);
    return text;
  };
  let result: JsonObject = item;

  const files = new Map<string | number, JsonObject>();
  for (const { name, entry } of assetEntries(item)) {
    const path = referencedPath(entry, 'assets');
    if (path === null) continue;
    files.set(name, { ...filledEntry(entry, { kind: 'asset', path }), data: nextText() });
  }
  if (files.size > 0) {
    const assets = mapEntries(item['assets'] as JsonValue, (entry, name) => files.get(name) ?? entry);
    result = { ...result, assets };
  }

  const checker = getMember(item, 'checker');
  if (isJsonObject(checker) && referencedPath(checker, 'checkers') !== null) {
    result = { ...result, checker: { ...checker, encoding: 'base64', data: nextText() } };
  }
  return result as Item;
}
