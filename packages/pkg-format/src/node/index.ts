export { type FileSource, openFileSource } from './file-source.ts';
export { openPackageFile, openPackageSource } from './open-package-file.ts';
export { writePackageStream } from './write-package-stream.ts';
