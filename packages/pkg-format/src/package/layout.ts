import { compareUtf8 } from '@svc/jsonl-v23/internal';
import { PackageError, quote } from '../errors.ts';
import type { ZipEntry } from '../zip/zip-entry.ts';

export const MANIFEST_FILE = 'manifest.json';
export const META_FILE = 'meta.json';
export const RUN_CONFIG_FILE = 'run_config.json';
export const RESULTS_FILE = 'results.jsonl';
export const SECTIONS_FOLDER = 'sections/';
export const ASSETS_FOLDER = 'assets/';
export const CHECKERS_FOLDER = 'checkers/';
const SECTION_SUFFIX = '.jsonl';

/** The files of an archive by their paths from its root; the name of each entry is that path. */
export type ArchiveFiles = ReadonlyMap<string, ZipEntry>;

/** The purpose of a package's files. */
export interface PackageLayout {
  /** Section files in the order of the UTF-8 bytes of their names. */
  readonly sectionFiles: readonly string[];
  /** Files that do not belong to the format. */
  readonly ignoredEntries: readonly string[];
}

/**
 * The files of an archive without folders, `__MACOSX/` and `.DS_Store`. If all are in one top folder, as in a zipped
 * folder, that folder is the root, unless it is `sections/` itself or the `data/` of an older archive.
 */
export function archiveFiles(entries: readonly ZipEntry[]): ArchiveFiles {
  const relevant = entries.filter((entry) => !entry.isDirectory && !isJunkFile(entry.name));
  const root = commonTopFolder(relevant.map((entry) => entry.name));
  const files = new Map<string, ZipEntry>();
  for (const entry of relevant) {
    const path = entry.name.slice(root.length);
    if (!isJunkFile(path)) files.set(path, root === '' ? entry : { ...entry, name: path });
  }
  return files;
}

/** Whether a file is one that macOS leaves in archives and folders. */
export function isJunkFile(path: string): boolean {
  return path.startsWith('__MACOSX/') || path === '.DS_Store' || path.endsWith('/.DS_Store');
}

function commonTopFolder(names: readonly string[]): string {
  const first = names[0] ?? '';
  const folder = first.slice(0, first.indexOf('/') + 1);
  if (folder === '' || !names.every((name) => name.startsWith(folder))) return '';
  return names.some(isSectionFile) || isLegacyDataFolder(folder, names) ? '' : folder;
}

/** Older archives keep items in files directly in `data/`, which is not a root then. */
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
 * Sorts an archive's files by purpose.
 *
 * @throws PackageError `package_unsupported` for a `.jsonl` file deeper in `sections/`, which would be lost silently;
 *   `package_no_sections`
 */
export function packageLayout(files: ArchiveFiles): PackageLayout {
  const sectionFiles: string[] = [];
  const ignoredEntries: string[] = [];
  for (const path of files.keys()) {
    if (isSectionFile(path)) sectionFiles.push(path);
    else if (path.startsWith(SECTIONS_FOLDER) && path.endsWith(SECTION_SUFFIX)) {
      throw new PackageError(
        'package_unsupported',
        `Section ${quote(path)} must be directly in ${SECTIONS_FOLDER}.`,
        { entry: path },
      );
    } else if (!isPackageFile(path)) ignoredEntries.push(path);
  }
  if (sectionFiles.length === 0) {
    throw new PackageError(
      'package_no_sections',
      `The archive has no ${SECTIONS_FOLDER}*${SECTION_SUFFIX} file.`,
    );
  }
  sectionFiles.sort(compareUtf8);
  return { sectionFiles, ignoredEntries };
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

/** The name of a section by its file: `train` for `sections/train.jsonl`. */
export function sectionNameOf(file: string): string {
  return file.slice(SECTIONS_FOLDER.length, -SECTION_SUFFIX.length);
}
