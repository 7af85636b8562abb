/**
 * `@svc/pkg-format/internal`: what the service and the command line of this repository use beyond the public API. It may
 * change in any minor release.
 */
export { type CheckedLine, checkLines, type FileEnds } from './check/check-lines.ts';
export { toPackageError } from './errors.ts';
export { type Archive, openArchive } from './package/open-archive.ts';
export { readPackage } from './package/package-reader.ts';
export { type ArchiveKind, recogniseArchive } from './package/recognise-archive.ts';
export { type LocatedResult, type ResultLineOptions, readResultLines } from './package/run-results.ts';
export { findRunConfigSecrets, holdsSecret, sanitiseRunConfig } from './secrets/sanitise-run-config.ts';
export { redactNamedSecrets, redactSecretForms } from './secrets/secret-texts.ts';
export { packageEtag } from './write/export-dataset.ts';
export { encodePieces, encodeText, linesToBytes } from './write/lines-to-bytes.ts';
export { bytesSource, chunkedSource, readRange } from './zip/byte-source.ts';
