import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { membersOf } from '../database/read-stored-json.ts';
import type { UnpackedItem } from './packed-items.ts';
import { type Kinds, kindOf } from './value-kinds.ts';

/** An image that an item embeds. */
export interface LinkedImage {
  readonly sha256: string;
  /** Where the file was; null where the entry does not say. */
  readonly path: string | null;
}

/** The images that the assets of an item embed, by name, or in the order of the list. */
export interface ItemImages {
  readonly named: ReadonlyMap<string, LinkedImage>;
  readonly listed: readonly LinkedImage[];
}

const NONE: ItemImages = { named: new Map(), listed: [] };

/** Whether a file that an item links is an image of its assets. */
export function isImage(file: LinkedFile): boolean {
  if (!file.pointer.startsWith('/assets/')) return false;
  const { mime_type } = entryOf(file);
  return typeof mime_type === 'string' && mime_type.startsWith('image/');
}

export function imagesOf({ assets, linkedFiles }: Pick<UnpackedItem, 'assets' | 'linkedFiles'>): ItemImages {
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

/** The entry of a file, without its content. */
function entryOf({ before, after }: LinkedFile): { readonly mime_type?: unknown; readonly path?: unknown } {
  return JSON.parse(before + after) as object;
}

/** The key that a JSON Pointer `/assets/<key>` names. */
const nameOf = (pointer: string): string =>
  pointer.slice('/assets/'.length).replaceAll('~1', '/').replaceAll('~0', '~');

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
  /** The {@link TASK_KINDS} of the items, as bits. */
  kinds: number;
}

/** What kind of task an item is; `none` has no prompt. */
export const TASK_KINDS = { choices: 1, criteria: 2, text: 4, none: 8 } as const;

/** The kind of an item. @param payload its JSON text without answer, checker and assets */
export const taskKind = (payload: string): number => kindOfMembers(membersOf(payload));

function kindOfMembers(item: ReadonlyMap<string, string>): number {
  const inputs = item.get('inputs');
  if (!inputs?.startsWith('{') || !inputs.includes('"prompt":"')) return TASK_KINDS.none;
  // Choices would stand before the prompt: most inputs need not be read.
  if (!inputs.startsWith('{"prompt":"')) {
    const asked = membersOf(inputs);
    if (!asked.get('prompt')?.startsWith('"')) return TASK_KINDS.none;
    if (isFilledList(asked.get('choices'))) return TASK_KINDS.choices;
  }
  return isFilledList(item.get('criteria')) ? TASK_KINDS.criteria : TASK_KINDS.text;
}

const [INPUTS, PROMPT, CRITERIA] = ['"inputs":', '{"prompt":"', '"criteria":'].map((text) =>
  Buffer.from(text),
) as [Buffer, Buffer, Buffer];
const [COMMA, OPEN_BRACE] = [0x2c, 0x7b];

/**
 * Whether an item surely is of the kind `text`, told without reading it: its first object is `inputs`, whose first member is a
 * prompt, before which choices would stand in canonical order.
 */
export function isPlainText(payload: Buffer): boolean {
  const open = payload.indexOf(OPEN_BRACE, 1);
  const start = open - INPUTS.length;
  return (
    start > 0 &&
    payload.subarray(start, open).equals(INPUTS) &&
    (payload[start - 1] === COMMA || start === 1) &&
    payload.subarray(open, open + PROMPT.length).equals(PROMPT) &&
    !payload.includes(CRITERIA)
  );
}

const isFilledList = (text = ''): boolean => text.startsWith('[') && text !== '[]';

export function emptyProfile(): Profile {
  return { answer: 0, meta: new Map(), assets: new Map(), hasListedImages: false, kinds: 0 };
}

/** What a profile depends on. */
type ProfiledItem = Pick<UnpackedItem, 'payload' | 'answer' | 'assets' | 'linkedFiles'>;

/** Adds an item. */
export function addItem(profile: Profile, item: ProfiledItem): void {
  const members = membersOf(item.payload);
  profile.kinds |= kindOfMembers(members);
  if (item.answer !== null) profile.answer |= kindOf(item.answer);
  const meta = members.get('meta');
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
  profile.kinds |= other.kinds;
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

/** Identifies what profiles say: those of another format are made again. */
export const PROFILE_FORMAT = '2';
/** Items of a part whose profile is kept: a change of a dataset reads those of few blocks again. */
export const PROFILE_ITEMS = 8_192;
/** Longer profiles are not kept: an import holds those of all its items. */
const MAX_PROFILE_LENGTH = 64 * 1024;

/** What some consecutive items of one block of a part are. */
export interface PartProfile {
  readonly partId: string;
  /** Ordinal of the first item of the block. */
  readonly first: number;
  readonly items: number;
  readonly profile: Profile;
}

/** A profile of a block as it is kept. */
export interface StoredProfile extends Pick<PartProfile, 'partId' | 'first'> {
  /** For {@link parseProfile}. */
  readonly profile: string;
}

/** Puts the profiles of consecutive items together, by blocks of their parts. */
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

  /** Takes the blocks that are whole: also those where a part of so many items ends. */
  take(parts: ReadonlyMap<string, number> = new Map()): readonly StoredProfile[] {
    for (const [name, block] of this.#open) {
      if (block.first + block.items === parts.get(block.partId)) this.#close(name, block);
    }
    return this.#whole.splice(0);
  }

  #close(name: string, { partId, first, items, profile }: PartProfile): void {
    this.#open.delete(name);
    const { answer, meta, assets, hasListedImages, kinds } = profile;
    const text = JSON.stringify([
      ...[items, answer, meta && [...meta], assets && [...assets], hasListedImages, kinds],
    ]);
    if (text.length <= MAX_PROFILE_LENGTH) this.#whole.push({ partId, first, profile: text });
  }
}

/** The profile of a block, and of how many items it is. */
export function parseProfile(text: string): Pick<PartProfile, 'items' | 'profile'> {
  type Entries = [string, number][] | null;
  type Stored = [
    items: number,
    answer: number,
    meta: Entries,
    assets: Entries,
    hasListedImages: boolean,
    kinds: number,
  ];
  const [items, answer, meta, assets, hasListedImages, kinds] = JSON.parse(text) as Stored;
  return {
    items,
    profile: {
      answer,
      meta: meta && new Map(meta),
      assets: assets && new Map(assets),
      hasListedImages,
      kinds,
    },
  };
}
