export { PackageError, type PackageErrorCode, type PackageErrorOptions, toPackageError } from './errors.ts';
export { DEFAULT_LIMITS, type PackageLimits } from './limits.ts';
export { GENERATOR, GENERATOR_VERSION, PACKAGE_FORMAT, PACKAGE_FORMAT_VERSION } from './package/manifest.ts';
export { type OpenOptions, openPackage } from './package/open-package.ts';
export type { FoundVersion, PackageReader, PackageSection } from './package/package-reader.ts';
export { readPackageItems } from './package/read-package-items.ts';
export { sanitiseRunConfig } from './secrets/sanitise-run-config.ts';
export { datasetFromItems, type ItemsDataset } from './write/dataset-from-items.ts';
export { mayEmbedFiles } from './write/embedded-files.ts';
export { encodeText } from './write/encode-text.ts';
export type {
  ExportDataset,
  ExportResult,
  ExportRun,
  ExportSection,
  WriteOptions,
} from './write/export-dataset.ts';
export { linesToBytes } from './write/lines-to-bytes.ts';
export { packageEtag } from './write/package-etag.ts';
export { writePackage } from './write/write-package.ts';
export type { ByteSource } from './zip/byte-source.ts';
