/** `@svc/jsonl-v23`: items, their files and hashes. */
export { JsonlError, type JsonlErrorCode } from './errors.ts';
export {
  createSectionHasher,
  HASH_SPEC,
  itemHash,
  type SectionHasher,
  versionHash,
} from './hash/version-hash.ts';
export { type FileReference, fileReferences } from './item/asset.ts';
export { type EncodedItem, encodeItem } from './item/encode-item.ts';
export {
  type InputKeys,
  ITEM_SCHEMA,
  type Item,
  type ItemInput,
  type ItemInputKeys,
  type ItemKeys,
  type ItemMessage,
  type KnownItemType,
  type MetaKeys,
} from './item/item.ts';
export { joinItem } from './item/join-item.ts';
export { parseItem } from './item/parse-item.ts';
export { rehydrateItem } from './item/rehydrate-item.ts';
export type { ItemSource } from './lines/byte-chunks.ts';
export {
  type CheckedItem,
  type CheckItemsOptions,
  checkItems,
  type LocatedItem,
  readItems,
} from './lines/read-items.ts';
export { writeItems } from './lines/write-items.ts';
export { formatLocation, type SourceLocation } from './source-location.ts';
