export { createSha256, type Sha256 } from '#sha256';
export { JsonlError, type JsonlErrorCode } from './errors.ts';
export type { EncodedLine } from './fast/reusable-line.ts';
export {
  createSectionHasher,
  HASH_SPEC,
  itemHash,
  type SectionHasher,
  versionHash,
} from './hash/version-hash.ts';
export {
  assetEntries,
  type FileReference,
  fileReferences,
  isEmbeddedChecker,
  type LocatedAsset,
} from './item/asset.ts';
export { checkItemSize, EmbeddedSize, type ItemSizeOptions, MAX_ITEM_FILES } from './item/embedded-size.ts';
export {
  canonicalByteLength,
  createItemEncoder,
  DEFAULT_ITEM_TYPE,
  type EncodedItem,
  type EncodedItemBytes,
  encodeItem,
  type ItemEncoder,
} from './item/encode-item.ts';
export { hashView } from './item/hash-view.ts';
export type { Item } from './item/item.ts';
export type { ItemRanges } from './item/item-ranges.ts';
export { ITEM_SCHEMA, type JsonSchema } from './item/item-schema.ts';
export { type ItemParts, joinItem } from './item/join-item.ts';
export { parseItem } from './item/parse-item.ts';
export { embedFiles, rehydrateItem } from './item/rehydrate-item.ts';
export { canonicalJson } from './json/canonical/canonical-json.ts';
export { canonicalNumber } from './json/canonical-number.ts';
export {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseNumber,
  setMember,
} from './json/json-value.ts';
export { DEFAULT_MAX_DEPTH, parseJson } from './json/parse-json.ts';
export { createLineEncoder, type LineEncoder } from './lines/encode-lines.ts';
export { type LocatedItem, parseLines, readItems } from './lines/read-items.ts';
export {
  DEFAULT_BATCH_BYTES,
  DEFAULT_MAX_LINE_BYTES,
  type LineBatch,
  splitLines,
} from './lines/split-lines.ts';
export { checkValueCount, MAX_LINE_VALUES } from './lines/value-counter.ts';
export { writeItems } from './lines/write-items.ts';
export type { CellBatch } from './mapping/cell-batch.ts';
export { type Cells, CellWriter } from './mapping/cell-writer.ts';
export { toChoices } from './mapping/choices.ts';
export { compileMapping, type MappableFeature, type RowMapper } from './mapping/compile-mapping.ts';
export { type CellEncoder, createCellEncoder } from './mapping/encode-cells.ts';
export { embeddedEntry, isFileCell } from './mapping/file-cell.ts';
export { type Mapping, mappedColumns } from './mapping/mapping.ts';
export { decodeBase64, encodeBase64, isBase64 } from './media/base64.ts';
export { type DataUri, isDataUri, parseDataUri } from './media/data-uri.ts';
export { DEFAULT_MIME_TYPE, extensionForMimeType, mimeTypeForPath } from './media/mime-type.ts';
export { sniffMimeType } from './media/sniff-mime-type.ts';
export { formatLocation, jsonPointer, type SourceLocation } from './source-location.ts';
