export type { ConversionReport, ReportedChange } from '../legacy/conversion-report.ts';
export { type ConvertOptions, convertLegacyFile, legacyOutputPath } from './convert-legacy-file.ts';
export { type FileSource, openFileSource } from './file-source.ts';
export { openPackageFile } from './open-package-file.ts';
export { writePackageStream } from './write-package-stream.ts';
