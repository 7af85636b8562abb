import { sha256 } from '#sha256';
import { canonicalJson } from './canonical-json.ts';
import { assetsHashView, checkerHashView } from './hash-view.ts';
import type { Item } from './item.ts';
import { isJsonObject, type JsonValue } from './json-value.ts';

/** An item as it is stored: canonical text in four parts, and its hash. Null parts are absent keys. */
export interface EncodedItem {
  /** 32 bytes. */
  itemHash: Uint8Array;
  /** Canonical JSON text of the item's type, without its quotes; `freeform` when the item states none. */
  type: string;
  /** All other keys: the canonical text of an object. */
  payload: string;
  /** Canonical text of `answer`: null when the key is absent, `'null'` when its value is null. */
  answer: string | null;
  checker: string | null;
  assets: string | null;
  /** Entries in `assets`. */
  assetCount: number;
}

/** The type of an item that states none. */
export const DEFAULT_ITEM_TYPE = 'freeform';

/**
 * Writes an item in its stored parts and hashes it. Every part is made canonical once; the hash is taken over
 * the same text. `joinItem` puts the parts together again.
 *
 * Throws JsonlError as `canonicalJson` does.
 */
export function encodeItem(item: Item): EncodedItem {
  let payload = '';
  let hashed = '';
  let answer: string | null = null;
  let checker: string | null = null;
  let assets: string | null = null;
  let assetCount = 0;
  for (const key of Object.keys(item).sort()) {
    const value = item[key] as JsonValue;
    const text = canonicalJson(value);
    let hashedText = text;
    switch (key) {
      case 'answer':
        answer = text;
        break;
      case 'checker':
        checker = text;
        hashedText = textOfView(value, checkerHashView(value), text);
        break;
      case 'assets':
        assets = text;
        assetCount = Array.isArray(value)
          ? value.length
          : isJsonObject(value)
            ? Object.keys(value).length
            : 0;
        hashedText = textOfView(value, assetsHashView(value), text);
        break;
      default:
        payload += `${payload === '' ? '' : ','}${canonicalJson(key)}:${text}`;
    }
    hashed += `${hashed === '' ? '' : ','}${canonicalJson(key)}:${hashedText}`;
  }
  const type = Object.hasOwn(item, 'type')
    ? canonicalJson(item['type'] as JsonValue).slice(1, -1)
    : DEFAULT_ITEM_TYPE;
  return {
    itemHash: sha256(`{${hashed}}`),
    type,
    payload: `{${payload}}`,
    answer,
    checker,
    assets,
    assetCount,
  };
}

function textOfView(value: JsonValue, view: JsonValue, text: string): string {
  return view === value ? text : canonicalJson(view);
}
