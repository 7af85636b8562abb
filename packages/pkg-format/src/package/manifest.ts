import { isDatasetName, MAX_NAME_LENGTH } from '@svc/jsonl-v23/internal';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { type ArchiveFiles, MANIFEST_FILE, sectionNameOf } from './layout.ts';
import { missingFile } from './open-archive.ts';

export const PACKAGE_FORMAT = 'svc-pkg';
/** Also the `generator_version` of what this package writes: its releases give the same bytes for the same dataset. */
export const PACKAGE_FORMAT_VERSION = '2.3';
export const GENERATOR = '@svc/pkg-format';

/** A file checksum in a manifest. */
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

/**
 * The names of sections in the order of their files. A manifest of this format keeps the name of a section whose file
 * needs another name; otherwise the section has the name of the file.
 *
 * @throws PackageError `package_missing_file` for a section that such a manifest lists and the archive lacks;
 *   `package_invalid_json` for a duplicate name, or one with control characters; `package_unsafe_entry` for such a file name
 */
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

/**
 * Checks the name of a dataset, as a manifest has it.
 *
 * @throws PackageError `package_invalid_json`
 */
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

/**
 * Checks the names of a dataset and its sections before they are written, as a reader checks them.
 *
 * @throws PackageError `package_no_sections`, `package_invalid_json` for an invalid or duplicate name
 */
export function checkNames(name: unknown, sectionNames: readonly unknown[]): void {
  checkDatasetName(name);
  if (sectionNames.length === 0)
    throw new PackageError('package_no_sections', 'A package must have at least one section.');
  const names = sectionNames.map((section, index) => {
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

/**
 * The checksums that a manifest of any format states in the form of this format. Manifests of other formats may list files
 * that the archive does not have; these are left out.
 */
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
