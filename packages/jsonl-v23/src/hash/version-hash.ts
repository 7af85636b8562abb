import { createSha256, sha256, toHex } from '#native';
import { hashView } from '../item/encode-item.ts';
import type { ItemInput } from '../item/item.ts';
import { parseItem } from '../item/parse-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';

/** Names the rules below; another set of rules gets another name. */
export const HASH_SPEC = 'svc-jcs-sha256-1';

const HASH_BYTES = 32;

/** Folds the item hashes of one section, in item order. */
export interface SectionHasher {
  /** Adds the hashes of n items as n * 32 bytes. */
  add(itemHashes: Uint8Array): void;
  /** The section hash, 32 bytes. The hasher must not be used afterwards. */
  digest(): Uint8Array;
}

/**
 * The hash of one item, 32 bytes: SHA-256 of the canonical text of its hash view. Normalises the item first.
 *
 * @throws JsonlError as `parseItem` and `canonicalJson` do
 */
export function itemHash(item: ItemInput): Uint8Array {
  return sha256(canonicalJson(hashView(parseItem(item))));
}

/**
 * Starts the hash of a section: SHA-256 over `svc-section-1`, a line feed, the section's name in UTF-8, a line
 * feed and the item hashes one after another. Constant memory, whatever the section holds.
 */
export function createSectionHasher(name: string): SectionHasher {
  const state = createSha256();
  state.update(`svc-section-1\n${name}\n`);
  return {
    add(itemHashes) {
      checkHashes(itemHashes);
      state.update(itemHashes);
    },
    digest() {
      return state.digest();
    },
  };
}

/**
 * The version hash of a dataset, 64 lower-case hex digits: SHA-256 over `svc-dataset-1`, a line feed and the
 * section hashes in section order.
 */
export function versionHash(sectionHashes: Iterable<Uint8Array>): string {
  const state = createSha256();
  state.update('svc-dataset-1\n');
  for (const sectionHash of sectionHashes) {
    checkHashes(sectionHash);
    state.update(sectionHash);
  }
  return toHex(state.digest());
}

/** Other lengths and texts would give a hash that no other program computes. */
function checkHashes(bytes: Uint8Array): void {
  if (bytes instanceof Uint8Array && bytes.length % HASH_BYTES === 0) return;
  const given = bytes instanceof Uint8Array ? `${bytes.length} bytes` : typeof bytes;
  throw new TypeError(`Hashes must be a Uint8Array of n * ${HASH_BYTES} bytes, got ${given}.`);
}
