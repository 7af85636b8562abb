export { type ByteSource, bytesSource } from './byte-source.ts';
export { datasetFromItems, type ItemsDataset } from './dataset-from-items.ts';
export { mayEmbedFiles } from './embedded-files.ts';
export { encodeText } from './encode-text.ts';
export { PackageError, type PackageErrorCode, type PackageErrorOptions, toPackageError } from './errors.ts';
export type {
  ExportDataset,
  ExportResult,
  ExportRun,
  ExportSection,
  WriteOptions,
} from './export-dataset.ts';
export { DEFAULT_LIMITS, type PackageLimits } from './limits.ts';
export { linesToBytes } from './lines-to-bytes.ts';
export { GENERATOR, GENERATOR_VERSION, PACKAGE_FORMAT, PACKAGE_FORMAT_VERSION } from './manifest.ts';
export { type OpenOptions, openPackage } from './open-package.ts';
export { packageEtag } from './package-etag.ts';
export type { FoundVersion, PackageReader, PackageSection } from './package-reader.ts';
export { readPackageItems } from './read-package-items.ts';
export { sanitiseRunConfig } from './sanitise-run-config.ts';
export { writePackage } from './write-package.ts';
