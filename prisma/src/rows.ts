/** `@svc/store/rows`: what a thread needs to read stored items, without connections. */

export { joinStoredItem, membersOf } from './database/read-stored-json.ts';
export { type ItemImages, imagesOf, isImage, type LinkedImage } from './hub-files/item-images.ts';
export { linkedFilesOf, type UnpackedItem, unpackItems } from './hub-files/packed-items.ts';
export {
  addItem,
  addProfile,
  emptyProfile,
  imageNames,
  PROFILE_ITEMS,
  type Profile,
  ProfileBlocks,
  parseProfile,
} from './hub-files/profile.ts';
export { agree, typeOf, type ValueType } from './hub-files/value-kinds.ts';
