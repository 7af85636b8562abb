/** What `@svc/hub-client` needs beyond the public names. Not part of the public API. */

export { type Compression, decompress } from '#runtime';
export { shorten, TableError, type TableErrorCode } from './errors.ts';
export { compressionOf, type DataFormat, type FileCompression, suffixes } from './format.ts';
export { openParquetSource } from './parquet/parquet-source.ts';
export {
  dtypeOf,
  type Feature,
  type Features,
  featureFromJson,
  listLength,
  type NamedFeature,
  sequenceOf,
  toMappable,
  valueFeature,
} from './schema/features.ts';
export { mergeFeatures } from './schema/merge-features.ts';
export type { ByteSource } from './source/byte-source.ts';
export { joinSignals } from './source/join-signals.ts';
export type { SplitSource } from './table.ts';
export { openTextSources } from './text/text-source.ts';
