export { type ByteSource, bytesSource } from './byte-source.ts';
export { PackageError, type PackageErrorCode, type PackageErrorOptions, toPackageError } from './errors.ts';
export { DEFAULT_LIMITS, type PackageLimits } from './limits.ts';
export { PACKAGE_FORMAT, PACKAGE_FORMAT_VERSION } from './manifest.ts';
export { type OpenOptions, openPackage } from './open-package.ts';
export type { FoundVersion, PackageReader, PackageSection } from './package-reader.ts';
export { readPackageItems } from './read-package-items.ts';
