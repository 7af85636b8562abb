import { getMember, isJsonObject, type JsonObject, type JsonValue, setMember } from '../json/json-value.ts';
import { isEmbeddedChecker } from './asset.ts';
import { canonicalByteLength } from './encode-item.ts';

/** The size of an item whose files are embedded, in bytes. */
export interface ItemSize {
  /** Canonical text without the base64 text of its files. */
  readonly textBytes: number;
  /** Base64 text of its files. */
  readonly base64Bytes: number;
}

/** Measures an item without writing the text of its files. @throws JsonlError as `canonicalJson` does */
export function itemSize(item: JsonObject): ItemSize {
  let base64Bytes = 0;
  const shortened = (entry: JsonValue): JsonValue => {
    if (!isJsonObject(entry)) return entry;
    const data = getMember(entry, 'data');
    if (typeof data !== 'string') return entry;
    base64Bytes += data.length;
    return { ...entry, data: '' };
  };
  const { assets, checker } = item;
  let short: JsonObject = item;
  if (Array.isArray(assets)) short = { ...short, assets: assets.map(shortened) };
  else if (isJsonObject(assets)) {
    const entries: JsonObject = {};
    for (const name of Object.keys(assets)) setMember(entries, name, shortened(assets[name] as JsonValue));
    short = { ...short, assets: entries };
  }
  if (isEmbeddedChecker(checker)) short = { ...short, checker: shortened(checker) };
  return { textBytes: canonicalByteLength(short), base64Bytes };
}
