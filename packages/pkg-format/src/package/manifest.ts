import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { type ArchiveFiles, MANIFEST_FILE, sectionNameOf } from './layout.ts';
import { missingFile } from './open-archive.ts';

export const PACKAGE_FORMAT = 'svc-pkg';
export const PACKAGE_FORMAT_VERSION = '2.3';
export const GENERATOR = '@svc/pkg-format';
/** This package's version: what it writes changes with it and with nothing else. */
export const GENERATOR_VERSION = '0.1.0';

/** A checksum that a manifest states. */
export interface StatedFile {
  path: string;
  /** Null where the manifest does not say. */
  bytes: number | null;
  /** Lower-case hex. */
  sha256: string;
  /** Where in the manifest, as a JSON Pointer. */
  pointer: string;
}

/** Whether a manifest is of this format; only then do its section names and inventory bind. */
export function isOurManifest(manifest: JsonObject | null): manifest is JsonObject {
  return manifest !== null && getMember(manifest, 'format') === PACKAGE_FORMAT;
}

/**
 * The names of section files in order. Our own manifest keeps the true name of a section whose file had to be called
 * otherwise; without it the name is the file's.
 *
 * @throws PackageError `package_missing_file` for a section that our manifest lists and the archive lacks;
 *   `package_invalid_json` for two sections of one name
 */
export function sectionNames(manifest: JsonObject | null, sectionFiles: readonly string[]): string[] {
  const stated = new Map<string, string>();
  const known = new Set(sectionFiles);
  for (const { section, pointer } of ourSections(manifest)) {
    const file = getMember(section, 'file');
    const name = getMember(section, 'name');
    if (typeof file !== 'string') continue;
    if (!known.has(file)) throw missingFile(file, { file: MANIFEST_FILE, path: `${pointer}/file` });
    if (typeof name === 'string') stated.set(file, name);
  }
  const names = sectionFiles.map((file) => stated.get(file) ?? sectionNameOf(file));
  const taken = new Set<string>();
  for (const name of names) {
    if (taken.has(name)) {
      throw new PackageError('package_invalid_json', `The manifest names two sections ${quote(name)}`, {
        entry: MANIFEST_FILE,
        location: { file: MANIFEST_FILE, path: '/sections' },
      });
    }
    taken.add(name);
  }
  return names;
}

/** The sections that our own manifest lists, with their place; none for any other manifest. */
export function ourSections(manifest: JsonObject | null): { section: JsonObject; pointer: string }[] {
  return isOurManifest(manifest)
    ? members(manifest, 'sections').map(({ value, pointer }) => ({ section: value, pointer }))
    : [];
}

/**
 * The checksums that a manifest states, ours or not, as far as they have our form. What another manifest says of files
 * that are not in the archive is no concern of ours.
 */
export function statedFiles(manifest: JsonObject | null, files: ArchiveFiles): StatedFile[] {
  if (manifest === null) return [];
  const stated: StatedFile[] = [];
  for (const { value, pointer } of members(manifest, 'files')) {
    const path = getMember(value, 'path');
    const sha256 = getMember(value, 'sha256');
    const bytes = getMember(value, 'bytes');
    if (typeof path !== 'string' || typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) continue;
    if (!files.has(path) && !isOurManifest(manifest)) continue;
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
