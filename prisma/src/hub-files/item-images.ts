import type { LinkedFile } from '@svc/jsonl-v23/internal';
import type { UnpackedItem } from './packed-items.ts';

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
