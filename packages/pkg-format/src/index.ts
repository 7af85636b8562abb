/** `@svc/pkg-format`: reads and writes `.pkg.zip` archives in any runtime. */
export {
  type CheckedLine,
  type CheckedPackage,
  type CheckedSection,
  type CheckOptions,
  checkLines,
  checkPackage,
  type FileEnds,
  type PackageWatcher,
} from './check-package.ts';
export { PackageError, type PackageErrorCode, toPackageError } from './errors.ts';
export { DEFAULT_LIMITS, type PackageLimits } from './limits.ts';
export {
  type Archive,
  PACKAGE_FORMAT,
  PACKAGE_FORMAT_VERSION,
  type PackageGenerator,
} from './package/layout.ts';
export { type ArchiveKind, openArchive, recogniseArchive } from './package/open-archive.ts';
export {
  type FoundVersion,
  type OpenOptions,
  openPackage,
  type PackageReader,
  type PackageSection,
  readPackage,
  readPackageItems,
} from './package/package-reader.ts';
export type { PackageRun, SignalOptions } from './package/package-run.ts';
export type { RunError } from './package/run-results.ts';
export {
  type CountedSections,
  type LocatedResult,
  type PackageResult,
  type ResultLineOptions,
  readResultLines,
} from './package/run-results.ts';
export { datasetFromItems, type ItemsDataset } from './write/dataset-from-items.ts';
export {
  type ExportBaseline,
  type ExportDataset,
  type ExportItem,
  type ExportResult,
  type ExportRun,
  type ExportSection,
  type LinkedContent,
  packageEtag,
  type WriteOptions,
} from './write/export-dataset.ts';
export { encodePieces, encodeText, linesToBytes } from './write/lines-to-bytes.ts';
export { writePackage } from './write/write-package.ts';
export { type ByteSource, bytesSource, chunkedSource, readRange } from './zip/byte-source.ts';
