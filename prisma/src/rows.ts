/** `@svc/store/rows`: what a thread needs to read stored items, without connections. */

export { joinStoredItem } from './database/read-stored-json.ts';
export { linkedFilesOf, type UnpackedItem, unpackItems } from './hub-files/packed-items.ts';
