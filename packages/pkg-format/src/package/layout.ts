import { PackageError, quote } from '../errors.ts';
import { compareUtf8 } from '../zip/entry-name.ts';
import type { ZipEntry } from '../zip/read-directory.ts';

export const MANIFEST_FILE = 'manifest.json';
export const META_FILE = 'meta.json';
export const RUN_CONFIG_FILE = 'run_config.json';
export const RESULTS_FILE = 'results.jsonl';
export const SECTIONS_FOLDER = 'sections/';
export const ASSETS_FOLDER = 'assets/';
export const CHECKERS_FOLDER = 'checkers/';
const SECTION_SUFFIX = '.jsonl';

/** The files of an archive by their path from its root; each entry bears that path as its name. */
export type ArchiveFiles = ReadonlyMap<string, ZipEntry>;

/** What a package's files are for. */
export interface PackageLayout {
  /** Section files in order: by the UTF-8 bytes of their names. */
  sectionFiles: string[];
  /** Files that are no part of a package. */
  ignoredEntries: string[];
}

/**
 * The files that count, without folders, `__MACOSX/` and `.DS_Store`. Where all of them lie in one top folder, as when a
 * folder was zipped, that folder is the root, unless it is `sections/` itself, or the `data/` of an older archive.
 */
export function archiveFiles(entries: readonly ZipEntry[]): ArchiveFiles {
  const counting = entries.filter((entry) => !entry.isDirectory && !isJunkFile(entry.name));
  const root = commonTopFolder(counting.map((entry) => entry.name));
  const files = new Map<string, ZipEntry>();
  for (const entry of counting) {
    const path = entry.name.slice(root.length);
    if (!isJunkFile(path)) files.set(path, { ...entry, name: path });
  }
  return files;
}

/** What macOS leaves in archives and folders. */
export function isJunkFile(path: string): boolean {
  return path.startsWith('__MACOSX/') || path === '.DS_Store' || path.endsWith('/.DS_Store');
}

function commonTopFolder(names: readonly string[]): string {
  const first = names[0] ?? '';
  const folder = first.slice(0, first.indexOf('/') + 1);
  if (folder === '' || !names.every((name) => name.startsWith(folder))) return '';
  return names.some(isSectionFile) || isLegacyDataFolder(folder, names) ? '' : folder;
}

/** `data/` with files of items directly in it is where older archives keep them, and no root. */
function isLegacyDataFolder(folder: string, names: readonly string[]): boolean {
  return (
    folder === 'data/' &&
    names.some((name) => /^data\/[^/]+\.jsonl?$/i.test(name)) &&
    !names.some(
      (name) =>
        name === `data/${MANIFEST_FILE}` ||
        name === `data/${META_FILE}` ||
        name.startsWith(`data/${SECTIONS_FOLDER}`),
    )
  );
}

function isSectionFile(path: string): boolean {
  return (
    path.startsWith(SECTIONS_FOLDER) &&
    path.endsWith(SECTION_SUFFIX) &&
    !path.includes('/', SECTIONS_FOLDER.length)
  );
}

/**
 * Sorts an archive's files into a package's layout.
 *
 * @throws PackageError `package_unsupported` for a `.jsonl` file deeper under `sections/`, which would be lost in
 *   silence; `package_no_sections`
 */
export function packageLayout(files: ArchiveFiles): PackageLayout {
  const layout: PackageLayout = { sectionFiles: [], ignoredEntries: [] };
  for (const path of files.keys()) {
    if (isSectionFile(path)) layout.sectionFiles.push(path);
    else if (path.startsWith(SECTIONS_FOLDER) && path.endsWith(SECTION_SUFFIX)) {
      throw new PackageError(
        'package_unsupported',
        `${quote(path)} lies too deep: sections are files directly under ${SECTIONS_FOLDER}`,
        { entry: path },
      );
    } else if (!isPackageFile(path)) layout.ignoredEntries.push(path);
  }
  if (layout.sectionFiles.length === 0) {
    throw new PackageError(
      'package_no_sections',
      `The archive has no ${SECTIONS_FOLDER}*${SECTION_SUFFIX} file`,
    );
  }
  layout.sectionFiles.sort(compareUtf8);
  return layout;
}

function isPackageFile(path: string): boolean {
  return (
    path === MANIFEST_FILE ||
    path === META_FILE ||
    path === RUN_CONFIG_FILE ||
    path === RESULTS_FILE ||
    path.startsWith(ASSETS_FOLDER) ||
    path.startsWith(CHECKERS_FOLDER)
  );
}

/** A section's name as its file states it: `sections/train.jsonl` holds `train`. */
export function sectionNameOf(file: string): string {
  return file.slice(SECTIONS_FOLDER.length, -SECTION_SUFFIX.length);
}
