import { membersOf } from '@svc/flows/item-columns';
import type { UnpackedItem } from '@svc/store/rows';
import { imagesOf } from './item-images.ts';
import { type Kinds, kindOf } from './value-kinds.ts';

/** More different keys than this get no columns: they are rather values than names. */
const MAX_KEYS = 1_000;

/** What an asset of a name is. */
const IMAGE = 1;
const OTHER = 2;

/** What the values of items are, as far as columns depend on it. Profiles are merged in any order. */
export interface Profile {
  answer: Kinds;
  /** By the keys of `meta`; null for too many of them. */
  meta: Map<string, Kinds> | null;
  /** By the names of assets, whether they are images; null for too many of them. */
  assets: Map<string, number> | null;
  /** Whether a list of assets has an image. */
  hasListedImages: boolean;
}

export function emptyProfile(): Profile {
  return { answer: 0, meta: new Map(), assets: new Map(), hasListedImages: false };
}

/** Adds an item. */
export function addItem(profile: Profile, item: UnpackedItem): void {
  if (item.answer !== null) profile.answer |= kindOf(item.answer);
  const meta = membersOf(item.payload).get('meta');
  if (meta?.startsWith('{')) {
    for (const [key, value] of membersOf(meta)) profile.meta = add(profile.meta, key, kindOf(value));
  }
  if (item.assets === null) return;
  const { named, listed } = imagesOf(item);
  if (listed.length > 0) profile.hasListedImages = true;
  if (!item.assets.startsWith('{')) return;
  for (const name of membersOf(item.assets).keys()) {
    profile.assets = add(profile.assets, name, named.has(name) ? IMAGE : OTHER);
  }
}

/** Adds the items of another profile. */
export function addProfile(profile: Profile, other: Profile): void {
  profile.answer |= other.answer;
  profile.hasListedImages ||= other.hasListedImages;
  profile.meta = addAll(profile.meta, other.meta);
  profile.assets = addAll(profile.assets, other.assets);
}

/** Names of assets that are images wherever they are. */
export function imageNames({ assets }: Profile): readonly string[] {
  return [...(assets ?? [])].filter(([, kinds]) => kinds === IMAGE).map(([name]) => name);
}

function add(kinds: Map<string, number> | null, key: string, more: number): Map<string, number> | null {
  if (kinds === null) return null;
  kinds.set(key, (kinds.get(key) ?? 0) | more);
  return kinds.size > MAX_KEYS ? null : kinds;
}

function addAll(
  kinds: Map<string, number> | null,
  others: ReadonlyMap<string, number> | null,
): Map<string, number> | null {
  let all = others === null ? null : kinds;
  for (const [key, more] of others ?? []) all = add(all, key, more);
  return all;
}
