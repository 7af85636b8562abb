import { assetEntries, type FileReference, referencedPath } from './asset.ts';
import { encodeBase64 } from './base64.ts';
import type { Item } from './item.ts';
import { getMember, isJsonObject, type JsonObject, type JsonValue, setMember } from './json-value.ts';
import { mimeTypeForPath } from './mime-type.ts';

/**
 * Embeds the files that an item refers to (`fileReferences`): each entry gets `encoding: "base64"` and `data`,
 * an asset without `mime_type` gets the one of its file's extension; `path` stays. The item given is not
 * changed. Files are read one after another, so that memory holds one at a time beside the item.
 *
 * Throws what `readFile` throws.
 */
export async function rehydrateItem(
  item: Item,
  readFile: (reference: FileReference) => Promise<Uint8Array>,
): Promise<Item> {
  let result = item;

  const files = new Map<string | number, JsonObject>();
  for (const { name, entry, pointer } of assetEntries(item)) {
    const path = referencedPath(entry, 'assets');
    if (path === null) continue;
    const data = encodeBase64(await readFile({ kind: 'asset', path, pointer }));
    files.set(name, { mime_type: mimeTypeForPath(path), ...entry, encoding: 'base64', data });
  }
  if (files.size > 0) result = { ...result, assets: withEntries(item['assets'] as JsonValue, files) };

  const checker = getMember(item, 'checker');
  if (isJsonObject(checker)) {
    const path = referencedPath(checker, 'checkers');
    if (path !== null) {
      const data = encodeBase64(await readFile({ kind: 'checker', path, pointer: '/checker' }));
      result = { ...result, checker: { ...checker, encoding: 'base64', data } };
    }
  }
  return result;
}

function withEntries(assets: JsonValue, entries: ReadonlyMap<string | number, JsonObject>): JsonValue {
  if (Array.isArray(assets)) return assets.map((entry, index) => entries.get(index) ?? entry);
  const result: JsonObject = {};
  for (const [name, entry] of Object.entries(assets as JsonObject)) {
    setMember(result, name, entries.get(name) ?? entry);
  }
  return result;
}
