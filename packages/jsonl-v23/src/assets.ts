/** `@svc/jsonl-v23/assets`: the files of items, as entries, links and content. */
export {
  type AssetLink,
  assetEntries,
  type FileReference,
  fileReferences,
  filledEntry,
  isEmbeddedChecker,
  LINK_MEMBERS,
  type LocatedAsset,
  linkedReferences,
  mapEntries,
  withOwnMembers,
} from './item/asset.ts';
export {
  base64Length,
  checkItemSize,
  EmbeddedSize,
  type ItemSizeOptions,
  itemSize,
} from './item/item-size.ts';
export {
  filesOfPart,
  isCheckerFile,
  type LinkedFile,
  type LinkedParts,
  layoutLinkedItem,
  layoutPart,
  replaceLinked,
} from './item/join-item.ts';
export { embedFiles } from './item/rehydrate-item.ts';
export { isDataUri, parseDataUri } from './media/data-uri.ts';
export {
  DEFAULT_MIME_TYPE,
  extensionForMimeType,
  mimeTypeForPath,
  sniffMimeType,
} from './media/mime-type.ts';
