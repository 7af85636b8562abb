export { type CellConverter, compileCell, compileRow, RAW_PARSERS } from './cell.ts';
export {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  type HubTimeouts,
  type OpenDatasetOptions,
  PUBLIC_HUB,
} from './create-hub-client.ts';
export {
  chooseSubset,
  type DatasetLayout,
  type RepositoryFile,
  resolveDataFiles,
  type Subset,
  type SubsetSplit,
} from './data-files.ts';
export { compressionOf, type DataFormat, type FileCompression } from './data-format.ts';
export { HubError, type HubErrorCode, type HubErrorDetails, type HubErrorOptions } from './errors.ts';
export {
  dtypeOf,
  type Feature,
  type Features,
  featureFromJson,
  featuresFromJson,
  featuresFromYaml,
  type Media,
  type NamedFeature,
  toMappable,
} from './features.ts';
export {
  createInference,
  type RowTyping,
  type TextFormat,
  TYPING_WINDOW_ROWS,
  TYPING_WINDOW_SIZE,
  type TypingBuilder,
} from './infer-schema.ts';
export { mergeFeatures } from './merge-features.ts';
export {
  DEFAULT_REVISION,
  type HubDataset,
  type HubRow,
  type HubSplit,
  type ReadRowsOptions,
  type SplitReader,
} from './open-dataset.ts';
export { applyDeclared, featuresFromParquet, rawMetadata } from './parquet-features.ts';
export type { YamlMap, YamlValue } from './parse-yaml.ts';
export { DEFAULT_MAX_ROW_SIZE, type RawRow, type ReadOptions } from './raw-row.ts';
export { readRows } from './read-rows.ts';
export type { RequestEvent, RequestKind, RetryEvent } from './request.ts';
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry.ts';
export {
  defaultSplit,
  emptySelection,
  isSplitName,
  needsRowCounts,
  parseSplit,
  resolveSplit,
  type SplitExpression,
  type SplitPart,
  type SplitRange,
  type SplitRounding,
  type SplitSize,
} from './split-slice.ts';
export { suggestMapping } from './suggest-mapping.ts';
export type { FetchFunction } from './transport.ts';
export { validateDatasetPath, validateRevision, validateToken } from './validate-path.ts';
