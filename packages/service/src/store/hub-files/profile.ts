import type { LinkedFile } from '@svc/jsonl-v23/assets';
import { membersOf } from '../database/read-stored-json.ts';
import { type ItemScan, type Kinds, kindOf, MemberCursor } from './item-scan.ts';

export interface LinkedImage {
  readonly sha256: string;
  readonly path: string | null;
}

/** The images that the assets of an item embed, by name, or in the order of the list. */
export interface ItemImages {
  readonly named: ReadonlyMap<string, LinkedImage>;
  readonly listed: readonly LinkedImage[];
}

const NONE: ItemImages = { named: new Map(), listed: [] };

export function isImage(file: LinkedFile): boolean {
  if (!file.pointer.startsWith('/assets/')) return false;
  const { mime_type } = entryOf(file);
  return typeof mime_type === 'string' && mime_type.startsWith('image/');
}

interface ItemAssets {
  readonly assets: string | null;
  readonly linkedFiles: readonly LinkedFile[];
}

export function imagesOf({ assets, linkedFiles }: ItemAssets): ItemImages {
  if (assets === null || linkedFiles.length === 0) return NONE;
  const images = linkedFiles.filter(isImage);
  if (assets.startsWith('[')) return { named: NONE.named, listed: images.map(toImage) };
  const named = images.map((file) => [nameOf(file.pointer), toImage(file)] as const);
  return { named: new Map(named), listed: [] };
}

function toImage(file: LinkedFile): LinkedImage {
  const { path } = entryOf(file);
  return { sha256: file.sha256, path: typeof path === 'string' ? path : null };
}

function entryOf({ before, after }: LinkedFile): { readonly mime_type?: unknown; readonly path?: unknown } {
  return JSON.parse(before + after) as object;
}

const nameOf = (pointer: string): string =>
  pointer.slice('/assets/'.length).replaceAll('~1', '/').replaceAll('~0', '~');

/** More different keys than this get no columns: they are rather values than names. */
const MAX_KEYS = 1_000;

const IMAGE = 1;
const OTHER = 2;

/** What the values of items are, as far as columns depend on it. Profiles are merged in any order. */
export interface Profile {
  answer: Kinds;
  /** By the keys of `meta`; null for too many of them. */
  meta: Map<string, Kinds> | null;
  /** By the names of assets, whether they are images; null for too many of them. */
  assets: Map<string, number> | null;
  hasListedImages: boolean;
  kinds: number;
}

export function emptyProfile(): Profile {
  return { answer: 0, meta: new Map(), assets: new Map(), hasListedImages: false, kinds: 0 };
}

/** An item without its payload; its answer as canonical text in UTF-8. */
interface ItemParts extends ItemAssets {
  readonly answer: Uint8Array | null;
}

/** Makes profiles. It remembers the keys of the last item, which the next one mostly has too. */
export class Profiler {
  readonly #members = new MemberCursor();
  readonly #keys: { readonly bytes: Uint8Array; readonly name: string }[] = [];

  add(profile: Profile, { bytes, kind, metaStart }: ItemScan, { answer, ...files }: ItemParts): void {
    profile.kinds |= kind;
    if (answer !== null) profile.answer |= kindOf(answer, 0, answer.length);
    if (metaStart !== -1 && profile.meta !== null) this.#addMeta(profile, bytes, metaStart);
    if (files.assets === null) return;
    const { named, listed } = imagesOf(files);
    if (listed.length > 0) profile.hasListedImages = true;
    if (!files.assets.startsWith('{')) return;
    for (const name of membersOf(files.assets).keys()) {
      profile.assets = add(profile.assets, name, named.has(name) ? IMAGE : OTHER);
    }
  }

  #addMeta(profile: Profile, bytes: Uint8Array, start: number): void {
    const members = this.#members;
    members.open(bytes, start);
    for (let index = 0; profile.meta !== null && members.next(); index += 1) {
      const kind = kindOf(bytes, members.valueStart, members.valueEnd);
      profile.meta = add(profile.meta, this.#nameAt(index), kind);
    }
  }

  #nameAt(index: number): string {
    const members = this.#members;
    const known = this.#keys[index];
    if (known !== undefined && members.isKey(known.bytes)) return known.name;
    const name = members.key();
    if (index < MAX_KEYS) {
      this.#keys[index] = { bytes: members.bytes.slice(members.keyStart, members.keyEnd), name };
    }
    return name;
  }
}

export function addProfile(profile: Profile, other: Profile): void {
  profile.answer |= other.answer;
  profile.kinds |= other.kinds;
  profile.hasListedImages ||= other.hasListedImages;
  profile.meta = addAll(profile.meta, other.meta);
  profile.assets = addAll(profile.assets, other.assets);
}

export function imageNames({ assets }: Profile): readonly string[] {
  return [...(assets ?? [])].filter(([, kinds]) => kinds === IMAGE).map(([name]) => name);
}

function add(kinds: Map<string, number> | null, key: string, more: number): Map<string, number> | null {
  if (kinds === null) return null;
  const known = kinds.get(key);
  if (known !== undefined && (known | more) === known) return kinds;
  kinds.set(key, (known ?? 0) | more);
  return kinds.size > MAX_KEYS ? null : kinds;
}

function addAll(kinds: Map<string, number> | null, others: ReadonlyMap<string, number> | null) {
  let all = others === null ? null : kinds;
  for (const [key, more] of others ?? []) all = add(all, key, more);
  return all;
}

/** Identifies what profiles say: those of another format are made again. */
export const PROFILE_FORMAT = '3';
/** Items of a part whose profile is kept: a change of a dataset reads those of few blocks again. */
export const PROFILE_ITEMS = 8_192;
/** Longer profiles are not kept: an import holds those of all its items. */
const MAX_PROFILE_LENGTH = 64 * 1024;

export interface PartProfile {
  readonly partId: string;
  readonly first: number;
  readonly items: number;
  readonly profile: Profile;
}

export interface StoredProfile extends Pick<PartProfile, 'partId' | 'first'> {
  readonly profile: string;
}

export class ProfileBlocks {
  readonly #open = new Map<string, { -readonly [Name in keyof PartProfile]: PartProfile[Name] }>();
  readonly #whole: StoredProfile[] = [];

  /** @param first ordinal of the first of the items, which are of one block */
  add({ partId, first: ordinal, items, profile }: PartProfile): void {
    const first = ordinal - (ordinal % PROFILE_ITEMS);
    const name = `${partId} ${first}`;
    const block = this.#open.get(name) ?? { partId, first, items: 0, profile: emptyProfile() };
    this.#open.set(name, block);
    block.items += items;
    addProfile(block.profile, profile);
    if (block.items === PROFILE_ITEMS) this.#close(name, block);
  }

  take(parts: ReadonlyMap<string, number> = new Map()): readonly StoredProfile[] {
    for (const [name, block] of this.#open) {
      if (block.first + block.items === parts.get(block.partId)) this.#close(name, block);
    }
    return this.#whole.splice(0);
  }

  #close(name: string, { partId, first, items, profile }: PartProfile): void {
    this.#open.delete(name);
    const text = JSON.stringify({ items, profile }, (_, value) =>
      value instanceof Map ? [...value] : value,
    );
    if (text.length <= MAX_PROFILE_LENGTH) this.#whole.push({ partId, first, profile: text });
  }
}

export function parseProfile(text: string): Pick<PartProfile, 'items' | 'profile'> {
  type Entries = [string, number][] | null;
  type Stored = Omit<Profile, 'meta' | 'assets'> & { readonly meta: Entries; readonly assets: Entries };
  const { items, profile } = JSON.parse(text) as { readonly items: number; readonly profile: Stored };
  const { meta, assets } = profile;
  return { items, profile: { ...profile, meta: meta && new Map(meta), assets: assets && new Map(assets) } };
}
