export { createSha256, type Sha256 } from '#sha256';
export {
  assetEntries,
  type FileReference,
  fileReferences,
  isEmbeddedChecker,
  type PlacedAsset,
} from './asset.ts';
export { decodeBase64, encodeBase64, isBase64 } from './base64.ts';
export { canonicalJson } from './canonical-json.ts';
export { canonicalNumber } from './canonical-number.ts';
export { type Cells, CellWriter } from './cell-writer.ts';
export { toChoices } from './choices.ts';
export { type DataUri, isDataUri, parseDataUri } from './data-uri.ts';
export { checkItemSize, EmbeddedSize, type ItemSizeOptions, MAX_ITEM_FILES } from './embedded-size.ts';
export { type CellBatch, type CellEncoder, createCellEncoder } from './encode-cells.ts';
export {
  canonicalByteLength,
  createItemEncoder,
  DEFAULT_ITEM_TYPE,
  type EncodedItem,
  type EncodedItemBytes,
  encodeItem,
  type ItemEncoder,
} from './encode-item.ts';
export { createLineEncoder, type LineEncoder } from './encode-lines.ts';
export type { EncodedLine } from './encoded-line.ts';
export { JsonlError, type JsonlErrorCode } from './errors.ts';
export { embeddedEntry, isFileCell } from './file-cell.ts';
export { hashView } from './hash-view.ts';
export { type Item, parseItem } from './item.ts';
export type { ItemRanges } from './item-ranges.ts';
export { ITEM_SCHEMA, type JsonSchema } from './item-schema.ts';
export { type ItemParts, joinItem } from './join-item.ts';
export {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseNumber,
  setMember,
} from './json-value.ts';
export {
  compileMapping,
  type MappableFeature,
  type Mapping,
  mappedColumns,
  type RowMapper,
} from './map-row.ts';
export { DEFAULT_MIME_TYPE, extensionForMimeType, mimeTypeForPath } from './mime-type.ts';
export { DEFAULT_MAX_DEPTH, parseJson } from './parse-json.ts';
export { formatPlace, jsonPointer, type Place } from './place.ts';
export { type PlacedItem, parseLines, readItems } from './read-items.ts';
export { embedFiles, rehydrateItem } from './rehydrate-item.ts';
export { sniffMimeType } from './sniff-mime-type.ts';
export { DEFAULT_BATCH_BYTES, DEFAULT_MAX_LINE_BYTES, type LineBatch, splitLines } from './split-lines.ts';
export { createSectionHasher, HASH_SPEC, itemHash, type SectionHasher, versionHash } from './version-hash.ts';
export { writeItems } from './write-items.ts';
