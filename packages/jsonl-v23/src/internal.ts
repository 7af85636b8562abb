/**
 * `@svc/jsonl-v23/internal`: what the packages and the service of this repository share beyond the public API. It may
 * change in any minor release.
 */

export { createSha256, decodeBase64, encodeBase64, isBase64, sha256Hex, toHex } from '#native';
export { checkNumber, withDefaults } from './arguments/check-arguments.ts';
export {
  ImportErrors,
  type LocatedError,
  MAX_UNREAD_REASONS,
  NO_REASON,
  type UnreadRow,
  type UnreadRows,
} from './errors.ts';
export {
  type Field,
  type FieldKind,
  isJsonField,
  type ScorerScore,
  type Scores,
  wireValue,
} from './fields/field.ts';
export {
  isLabelNote,
  isLabelType,
  labelMembers,
  MAX_LABEL_TYPES,
  MAX_NOTE_LENGTH,
  MAX_OUTPUT_LABELS,
  MAX_TYPE_LENGTH,
  type ResultLabel,
  readLabels,
  timeOf,
  VERDICTS,
  type Verdict,
} from './fields/label.ts';
export {
  PUBLIC_RESULT_FIELDS,
  RESULT_FIELD_LIST,
  RESULT_FIELDS,
  RESULT_RANGES,
  type ResultBounds,
  type ResultField,
  type ResultName,
  type ResultRange,
  type ResultTexts,
  type ResultValues,
  type StatedName,
} from './fields/result-fields.ts';
export {
  type DerivedRunName,
  PACKAGED_RUN_FIELDS,
  type PackagedRun,
  type PackagedRunMember,
  RUN_FIELD_LIST,
  RUN_FIELDS,
  type RunColumns,
  type RunField,
  type RunTexts,
} from './fields/run-fields.ts';
export {
  barHash,
  createRunHasher,
  hashedResult,
  MAIN_RECORD,
  namesScorers,
  type RunHasher,
  recordText,
  SCORING,
} from './hash/run-hash.ts';
export {
  assetEntries,
  filledEntry,
  isEmbeddedChecker,
  type LocatedAsset,
  linkedReferences,
  mapEntries,
} from './item/asset.ts';
export { type AssetLink, LINK_MEMBERS, withOwnMembers } from './item/asset-link.ts';
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
  canonicalByteLength,
  countAssets,
  DEFAULT_ITEM_TYPE,
  type EncodedItemBytes,
  ItemEncoder,
} from './item/encode-item.ts';
export {
  DEFAULT_IMPORT_LIMITS,
  FREE_EXPANSION_BYTES,
  type ImportLimits,
  ImportMeter,
  type LimitNames,
} from './item/import-meter.ts';
export { hasPrompt } from './item/item.ts';
export { base64Length, checkItemSize, EmbeddedSize, itemSize } from './item/item-size.ts';
export {
  filesOfPart,
  type ItemParts,
  isCheckerFile,
  type LinkedFile,
  type LinkedParts,
  layoutLinkedItem,
  layoutPart,
  replaceLinked,
} from './item/join-item.ts';
export { embedFiles } from './item/rehydrate-item.ts';
export { asciiText } from './json/ascii.ts';
export {
  compareUtf8,
  countLineFeeds,
  grownSize,
  joinBytes,
  type OwnBytes,
  ownText,
  transferBuffer,
  validUtf8Length,
} from './json/bytes.ts';
export { CanonicalWriter } from './json/canonical/canonical-json.ts';
export { schemaPredicate } from './json/describe.ts';
export { isDeeper, jsonText } from './json/json-value.ts';
export { DEFAULT_MAX_DEPTH, tryParseJson } from './json/parse-json.ts';
export { replacePythonLiterals } from './json/python-literals.ts';
export { checkValueCount, hasMoreValues, MAX_LINE_VALUES, ValueCounter } from './json/value-counter.ts';
export { locateValue } from './json/value-scanner.ts';
export {
  createNamer,
  type KnownSecrets,
  REDACTED,
  type Redacted,
  redactValue,
  replaceSecrets,
  spellingsOf,
} from './known-secrets.ts';
export { type EncodedLine, LineEncoder } from './lines/encode-lines.ts';
export {
  type CutLine,
  type LineBatch,
  LineCutter,
  linesOf,
  splitLines,
} from './lines/line-cutter.ts';
export { PlainLineCollector, type PlainLines } from './lines/plain-line-collector.ts';
export { checkLine, parseLines } from './lines/read-items.ts';
export { NULL_WORDS } from './mapping/cast-cell.ts';
export {
  choiceContent,
  choiceLabel,
  choicesOf,
  type LabelledChoice,
  type LabelledChoices,
  labelledChoices,
  readChoices,
} from './mapping/choices.ts';
export { embeddedEntry, isFileCell } from './mapping/file-cell.ts';
export { ANSWER_KINDS, type ColumnUse, columnUses, mappedColumns, withUnmapped } from './mapping/mapping.ts';
export { MAPPING_SCHEMA } from './mapping/read-mapping.ts';
export { isConversation } from './mapping/row-to-item.ts';
export { suggestFromNames } from './mapping/suggest-from-names.ts';
export { isDataUri, parseDataUri } from './media/data-uri.ts';
export {
  DEFAULT_MIME_TYPE,
  extensionForMimeType,
  mimeTypeForPath,
  sniffMimeType,
} from './media/mime-type.ts';
export { splitReasoning } from './output/split-reasoning.ts';
export { abortable, type ChunkSource, chunksOf, isWebStream, typeName, untilAborted } from './streams.ts';
