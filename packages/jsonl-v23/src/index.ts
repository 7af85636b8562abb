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
export {
  DATASET_NAME,
  isDatasetName,
  MAX_NAME_LENGTH,
  SECTION_NAME_PATTERN,
  splitNames,
  toDatasetName,
  withoutControls,
} from './item/dataset-name.ts';
export {
  countAssets,
  DEFAULT_ITEM_TYPE,
  type EncodedItem,
  type EncodedItemBytes,
  encodeItem,
  ItemEncoder,
} from './item/encode-item.ts';
export {
  hasPrompt,
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
export { type ItemParts, joinItem } from './item/join-item.ts';
export { parseItem } from './item/parse-item.ts';
export { rehydrateItem } from './item/rehydrate-item.ts';
export type { ItemSource } from './lines/byte-chunks.ts';
export {
  type CheckedItem,
  type CheckItemsOptions,
  checkItems,
  type LocatedItem,
  readItems,
  writeItems,
} from './lines/read-items.ts';
export { formatLocation, type SourceLocation } from './source-location.ts';
