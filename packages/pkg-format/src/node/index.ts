/** `@svc/pkg-format/node`: packages in files and streams, and the conversion of older archives. */
export type { ConversionReport, ReportedChange } from '../legacy/upgrade-item.ts';
export { type ConvertOptions, convertLegacyFile, legacyOutputPath } from './convert-legacy.ts';
export { type FileSource, openFileSource, openPackageFile } from './file-source.ts';
export {
  type SealOptions,
  type SealReport,
  sealedOutputPath,
  sealPackageFile,
  zipFolder,
} from './seal/seal-package-file.ts';
export type { StreamedDataset } from './stage-dataset.ts';
export { moveIntoPlace } from './write-output.ts';
export {
  type WriteFileOptions,
  type WriteStreamOptions,
  type WrittenPackage,
  writePackageFile,
  writePackageStream,
} from './write-package-file.ts';
export { type ZippedFile, zipFiles } from './zip/zip-stream.ts';
