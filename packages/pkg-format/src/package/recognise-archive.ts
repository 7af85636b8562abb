import { hasPrompt } from '@svc/jsonl-v23';
import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { PackageError, toPackageError } from '../errors.ts';
import { readLegacyItems } from '../legacy/legacy-items.ts';
import { createReferenceResolver, isOtherFile } from '../legacy/legacy-sources.ts';
import { datasetPrompts, upgradeItem } from '../legacy/upgrade-item.ts';
import type { PackageLimits } from '../limits.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import { MANIFEST_FILE } from './layout.ts';
import { type Archive, openArchive } from './open-archive.ts';

export interface RecognisedArchive {
  readonly kind: ArchiveKind;
  readonly archive: Archive;
}

export interface RecogniseOptions {
  readonly limits?: Partial<PackageLimits> | undefined;
  /** Whether the files of an archive are tables, also files that could be items of an older archive. */
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

/** What a ZIP archive is: `files` are any others, such as tables. */
export type ArchiveKind = 'package' | 'legacy_package' | 'office_document' | 'files';

/** Files whose first item is looked at, and the bytes of each that are read. */
const MAX_FILES = 20;
const MAX_BYTES = 1024 * 1024;

/** Reads only beginnings. In an older archive, the first item of a JSON file has a prompt when it is upgraded. */
export async function archiveKind(archive: Archive, signal?: AbortSignal): Promise<ArchiveKind> {
  const paths = [...archive.files.keys()];
  if (paths.includes('[Content_Types].xml')) return 'office_document';
  if (paths.length === 0 || paths.some((path) => /^sections\/.*\.jsonl$/.test(path))) return 'package';
  const candidates = paths.filter((path) => /\.jsonl?$/i.test(path) && !isOtherFile(path)).sort(compareUtf8);
  for (const path of candidates.slice(0, MAX_FILES)) {
    if (await hasItems(archive, path, signal)) return 'legacy_package';
  }
  return paths.includes(MANIFEST_FILE) ? 'package' : 'files';
}

/** Whether the first item of a file becomes an item with a prompt. A line that is longer than the beginning may. */
async function hasItems(archive: Archive, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const kind = /\.json$/i.test(path) ? 'json' : 'jsonl';
  const resolveReference = createReferenceResolver(archive.files);
  const beginning = beginningOf(archive);
  try {
    for await (const { item, location } of readLegacyItems(beginning, path, kind, signal)) {
      if (item instanceof PackageError) return beginning.isCut && kind === 'jsonl';
      const upgraded = upgradeItem(item, {
        section: path,
        prompts: datasetPrompts([]),
        location,
        resolveFile: (reference) => resolveReference(reference, path),
      });
      return hasPrompt(upgraded.item);
    }
  } catch (error) {
    signal?.throwIfAborted();
    const found = toPackageError(error, path);
    if (!(found instanceof PackageError) || DAMAGED.has(found.code)) throw found;
  }
  return false;
}

/** The error for an archive that no reader accepts. */
const DAMAGED: ReadonlySet<string> = new Set(['package_corrupt', 'package_unsupported']);

/** An archive with no more than the beginning of a file. */
function beginningOf({
  limits,
  read,
}: Archive): Pick<Archive, 'limits' | 'read'> & { readonly isCut: boolean } {
  let left = MAX_BYTES;
  return {
    limits,
    get isCut() {
      return left < 0;
    },
    async *read(path, options) {
      for await (const chunk of read(path, { ...options, uncounted: true })) {
        yield chunk.subarray(0, left);
        left -= chunk.byteLength;
        if (left < 0) return;
      }
    },
  };
}
