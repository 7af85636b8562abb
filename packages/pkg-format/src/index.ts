/** `@svc/pkg-format`: reads and writes `.pkg.zip` archives in any runtime. */
export {
  type CheckedPackage,
  type CheckedSection,
  type CheckOptions,
  checkPackage,
  type PackageWatcher,
} from './check/check-package.ts';
export { PackageError, type PackageErrorCode } from './errors.ts';
export { DEFAULT_LIMITS, type PackageLimits } from './limits.ts';
export { PACKAGE_FORMAT, PACKAGE_FORMAT_VERSION, type PackageGenerator } from './package/layout.ts';
export { type OpenOptions, openPackage, readPackageItems } from './package/open-package.ts';
export type { FoundVersion, PackageReader, PackageSection } from './package/package-reader.ts';
export type { PackageRun, SignalOptions } from './package/package-run.ts';
export type { CountedSections, PackageResult } from './package/run-results.ts';
export type { RunError } from './package/run-values.ts';
export { datasetFromItems, type ItemsDataset } from './write/dataset-from-items.ts';
export type {
  ExportBaseline,
  ExportDataset,
  ExportItem,
  ExportResult,
  ExportRun,
  ExportSection,
  LinkedContent,
  WriteOptions,
} from './write/export-dataset.ts';
export { writePackage } from './write/write-package.ts';
export type { ByteSource } from './zip/byte-source.ts';
