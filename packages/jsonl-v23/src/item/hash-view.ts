import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { isEmbeddedChecker } from './asset.ts';

/**
 * The part of an item that is hashed: the item without the `path` of asset entries (and of a checker) that embed their
 * content. The path of a file in an archive is transport; its bytes are content. Returns the item itself if nothing is
 * left out.
 */
export function hashView(item: JsonObject): JsonObject {
  let view = item;
  if (Object.hasOwn(item, 'assets')) {
    const assets = assetsHashView(item['assets'] as JsonValue);
    if (assets !== item['assets']) view = { ...view, assets };
  }
  if (Object.hasOwn(item, 'checker')) {
    const checker = checkerHashView(item['checker'] as JsonValue);
    if (checker !== item['checker']) view = { ...view, checker };
  }
  return view;
}

/** The hash view of the `assets` member. */
function assetsHashView(assets: JsonValue): JsonValue {
  if (Array.isArray(assets)) {
    return assets.some(hasContentAndPath)
      ? assets.map((entry) => (hasContentAndPath(entry) ? withoutPath(entry) : entry))
      : assets;
  }
  if (!isJsonObject(assets) || !Object.values(assets).some(hasContentAndPath)) return assets;
  const view = { ...assets };
  for (const [name, entry] of Object.entries(assets)) {
    if (!hasContentAndPath(entry)) continue;
    const value = withoutPath(entry);
    Object.defineProperty(view, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return view;
}

/** The hash view of the `checker` member. */
function checkerHashView(checker: JsonValue): JsonValue {
  return isEmbeddedChecker(checker) && hasContentAndPath(checker) ? withoutPath(checker) : checker;
}

function hasContentAndPath(entry: JsonValue): entry is JsonObject {
  return isJsonObject(entry) && Object.hasOwn(entry, 'data') && Object.hasOwn(entry, 'path');
}

function withoutPath(entry: JsonObject): JsonObject {
  const { path: _, ...rest } = entry;
  return rest;
}
