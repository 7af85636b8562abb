/** `@svc/service/store/rows`: what a thread needs to read stored items, without connections. */

export { joinStoredItem, membersOf } from './database/read-stored-json.ts';
export { agree, TASK_KINDS, typeOf, type ValueType } from './hub-files/item-scan.ts';
export {
  linkedFilesOf,
  profileItems,
  scanItems,
  type UnpackedItem,
  unpackItems,
} from './hub-files/packed-items.ts';
export {
  addProfile,
  emptyProfile,
  type ItemImages,
  imageNames,
  imagesOf,
  isImage,
  type LinkedImage,
  PROFILE_ITEMS,
  type Profile,
  ProfileBlocks,
  parseProfile,
} from './hub-files/profile.ts';
