import { type ArchiveKind, archiveKind } from '../legacy/archive-kind.ts';
import type { PackageLimits } from '../limits.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import { MANIFEST_FILE } from './layout.ts';
import { type Archive, openArchive } from './open-archive.ts';

/** A ZIP archive, and what it holds. */
export interface RecognisedArchive {
  readonly kind: ArchiveKind;
  readonly archive: Archive;
}

export interface RecogniseOptions {
  readonly limits?: Partial<PackageLimits> | undefined;
  /** Whether the files of an archive are tables, also those that could be items of an older archive. */
  readonly areTables: boolean;
  readonly signal: AbortSignal;
}

/**
 * Opens a file as a ZIP archive, and finds out what it holds; null for a file that does not begin as one.
 *
 * @throws PackageError for an archive that cannot be read; errors of the source; the signal's reason
 */
export async function recogniseArchive(
  source: ByteSource,
  { limits, areTables, signal }: RecogniseOptions,
): Promise<RecognisedArchive | null> {
  const head = String.fromCharCode(...(await source.read(0, Math.min(4, source.byteLength))));
  if (head !== 'PK\u0003\u0004' && head !== 'PK\u0005\u0006') return null;
  const archive = await openArchive(source, limits, () => Promise.resolve());
  const kind = await archiveKind(archive, signal);
  const holdsTables = kind === 'legacy_package' && areTables && !archive.files.has(MANIFEST_FILE);
  return { kind: holdsTables ? 'files' : kind, archive };
}
