import { isDatasetName, MAX_NAME_LENGTH } from '@svc/jsonl-v23';
import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { missingFile, PackageError, quote } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { VERSION } from '../version.ts';
import type { ZipEntry } from '../zip/byte-source.ts';
import { nameProblem } from '../zip/read-directory.ts';

export const MANIFEST_FILE = 'manifest.json';
export const META_FILE = 'meta.json';
export const RUN_CONFIG_FILE = 'run_config.json';
export const BAR_FILE = 'bar.json';
export const RESULTS_FILE = 'results.jsonl';
/** The run that a bar compares with: what it is, and the records of its results. */
export const BASELINE_RUN_FILE = 'baseline/run.json';
export const BASELINE_RESULTS_FILE = 'baseline/results.jsonl';
/** The files of a run, in their order. */
export const RUN_FILES: readonly string[] = [
  RUN_CONFIG_FILE,
  BAR_FILE,
  RESULTS_FILE,
  BASELINE_RUN_FILE,
  BASELINE_RESULTS_FILE,
];
export const SECTIONS_FOLDER = 'sections/';
export const ASSETS_FOLDER = 'assets/';
export const CHECKERS_FOLDER = 'checkers/';
const SECTION_SUFFIX = '.jsonl';

export const PACKAGE_FORMAT = 'svc-pkg';
export const PACKAGE_FORMAT_VERSION = '2.3';

/** The files of an archive by their paths from its root; the name of each entry is that path. */
export type ArchiveFiles = ReadonlyMap<string, ZipEntry>;

export interface ReadOptions {
  readonly maxBytes?: number;
  /** Whether the bytes are only checked, not returned: they do not count towards the total. */
  readonly uncounted?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Whether a chunk may be freed when the next one is asked for; for a reader that copies what it keeps. */
  readonly isTransient?: boolean;
}

/** Checks the bytes of a file while they are read. */
export interface ContentCheck {
  add(chunk: Uint8Array): void;
  end(): void;
}

/** A checked archive: its files by path. */
export interface Archive {
  /** Size of the file. */
  readonly byteLength: number;
  readonly files: ArchiveFiles;
  readonly limits: PackageLimits;
  /** Streams a file; checks size, CRC-32 and limits while reading. */
  read(path: string, options?: ReadOptions): AsyncGenerator<Uint8Array>;
  /**
   * Reads all of an asset or checker file. A recently read file comes from a cache, but counts again; the bytes are
   * shared, so do not change them.
   *
   * @param check sees the bytes of a file that is not cached
   * @throws what `check` throws
   */
  readWhole(path: string, check?: ContentCheck): Promise<Uint8Array>;
  /** Parses a JSON file with an object; null if the archive does not contain it. */
  readJsonObject(path: string): Promise<JsonObject | null>;
  close(): Promise<void>;
}

export interface PackageLayout {
  /** Section files in the order of the UTF-8 bytes of their names. */
  readonly sectionFiles: readonly string[];
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
    RUN_FILES.includes(path) ||
    path.startsWith(ASSETS_FOLDER) ||
    path.startsWith(CHECKERS_FOLDER)
  );
}

/** Whether a reference names a file inside `folder` ("assets/", "checkers/"). */
export function isPathInside(path: string, folder: string): boolean {
  return (
    path.startsWith(folder) &&
    path.length > folder.length &&
    !path.endsWith('/') &&
    nameProblem(path) === null
  );
}

/** The name of a section by its file: `train` for `sections/train.jsonl`. */
export function sectionNameOf(file: string): string {
  return file.slice(SECTIONS_FOLDER.length, -SECTION_SUFFIX.length);
}

export interface StatedFile {
  readonly path: string;
  /** Null if the manifest does not state it. */
  readonly bytes: number | null;
  /** Lower-case hex. */
  readonly sha256: string;
  /** The location in the manifest as a JSON Pointer. */
  readonly pointer: string;
}

/** Whether a manifest is of this format; only then its section names and file list are binding. */
export function isPackageManifest(manifest: JsonObject | null): manifest is JsonObject {
  return manifest !== null && getMember(manifest, 'format') === PACKAGE_FORMAT;
}

/** In the order of files. A manifest of this format keeps names that differ from those of their files. */
export function sectionNames(manifest: JsonObject | null, sectionFiles: readonly string[]): string[] {
  const stated = new Map<string, string>();
  const known = new Set(sectionFiles);
  for (const { section, pointer } of manifestSections(manifest)) {
    const file = getMember(section, 'file');
    const name = getMember(section, 'name');
    if (typeof file !== 'string') continue;
    if (!known.has(file)) throw missingFile(file, { file: MANIFEST_FILE, path: `${pointer}/file` });
    if (typeof name !== 'string') continue;
    checkSectionName(name, `${pointer}/name`);
    stated.set(file, name);
  }
  const names = sectionFiles.map((file) => stated.get(file) ?? nameOfFile(file));
  refuseDuplicates(names);
  return names;
}

function nameOfFile(file: string): string {
  const name = sectionNameOf(file);
  if (isSectionName(name)) return name;
  const message = `The name of a section must have no control characters, got ${quote(name)}.`;
  throw new PackageError('package_unsafe_entry', message, { entry: file });
}

function refuseDuplicates(names: readonly string[]): void {
  const taken = new Set<string>();
  for (const name of names) {
    if (taken.has(name))
      throw invalidManifest(`The manifest has a duplicate section name ${quote(name)}.`, '/sections');
    taken.add(name);
  }
}

export function checkDatasetName(name: unknown): asserts name is string {
  if (isDatasetName(name)) return;
  const found = typeof name === 'string' ? quote(name) : typeof name;
  throw invalidManifest(
    `The name of a dataset must have 1 to ${MAX_NAME_LENGTH} characters, not all of them blank, and no control characters, got ${found}.`,
    '/name',
  );
}

/** Whether a value is the name of a section: a string without control characters. */
function isSectionName(name: unknown): name is string {
  return typeof name === 'string' && !/\p{Cc}/u.test(name);
}

export function checkNames({
  name,
  sections,
}: {
  readonly name: unknown;
  readonly sections: readonly { readonly name: unknown }[];
}): void {
  checkDatasetName(name);
  if (sections.length === 0)
    throw new PackageError('package_no_sections', 'A package must have at least one section.');
  const names = sections.map(({ name: section }, index) => {
    checkSectionName(section, `/sections/${index}/name`);
    return section;
  });
  refuseDuplicates(names);
}

function checkSectionName(name: unknown, path: string): asserts name is string {
  if (isSectionName(name)) return;
  const found = typeof name === 'string' ? quote(name) : typeof name;
  throw invalidManifest(
    `The name of a section must be a string without control characters, got ${found}.`,
    path,
  );
}

function invalidManifest(message: string, path: string): PackageError {
  return new PackageError('package_invalid_json', message, {
    entry: MANIFEST_FILE,
    location: { file: MANIFEST_FILE, path },
  });
}

/** The sections that a manifest of this format lists, with their JSON Pointers; none for any other manifest. */
export function manifestSections(manifest: JsonObject | null): { section: JsonObject; pointer: string }[] {
  return isPackageManifest(manifest)
    ? members(manifest, 'sections').map(({ value, pointer }) => ({ section: value, pointer }))
    : [];
}

/** Manifests of other formats may list files that the archive does not have; these are left out. */
export function statedFiles(manifest: JsonObject | null, files: ArchiveFiles): StatedFile[] {
  if (manifest === null) return [];
  const stated: StatedFile[] = [];
  for (const { value, pointer } of members(manifest, 'files')) {
    const path = getMember(value, 'path');
    const sha256 = getMember(value, 'sha256');
    const bytes = getMember(value, 'bytes');
    if (typeof path !== 'string' || typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) continue;
    if (!files.has(path) && !isPackageManifest(manifest)) continue;
    stated.push({
      path,
      sha256: sha256.toLowerCase(),
      bytes: typeof bytes === 'number' ? bytes : null,
      pointer,
    });
  }
  return stated;
}

function members(manifest: JsonObject, key: string): { value: JsonObject; pointer: string }[] {
  const list = getMember(manifest, key);
  if (!Array.isArray(list)) return [];
  return list.flatMap((value, index) =>
    isJsonObject(value) ? [{ value, pointer: `/${key}/${index}` }] : [],
  );
}

/** The program that writes a package, as its manifest names it. */
export interface PackageGenerator {
  readonly name: string;
  readonly version: string;
}

/** What a manifest says of the program that wrote it; by default, that is this library. */
export function generatorMembers(
  { name, version }: PackageGenerator = { name: '@svc/pkg-format', version: VERSION },
): JsonObject {
  return { generator: name, generator_version: version };
}
