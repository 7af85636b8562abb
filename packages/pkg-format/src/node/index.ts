/** `@svc/pkg-format/node`: packages in files and streams, and the conversion of older archives. */
export type { ConversionReport, ReportedChange } from '../legacy/conversion-report.ts';
export { type ConvertOptions, convertLegacyFile, legacyOutputPath } from './convert-legacy-file.ts';
export { type FileSource, openFileSource } from './file-source.ts';
export { moveIntoPlace } from './move-into-place.ts';
export { openPackageFile } from './open-package-file.ts';
export {
  type SealOptions,
  type SealReport,
  sealedOutputPath,
  sealPackageFile,
} from './seal/seal-package-file.ts';
export { zipFolder } from './seal/zip-folder.ts';
export type { StreamedDataset } from './stage-dataset.ts';
export { type WriteFileOptions, type WrittenPackage, writePackageFile } from './write-package-file.ts';
export { type WriteStreamOptions, writePackageStream } from './write-package-stream.ts';
export { type ZippedFile, zipFiles } from './zip/zip-files.ts';
