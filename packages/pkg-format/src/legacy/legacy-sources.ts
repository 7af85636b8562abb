import { withoutControls } from '@svc/jsonl-v23';
import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { getMember, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { type ErrorList, PackageError } from '../errors.ts';
import {
  type Archive,
  type ArchiveFiles,
  ASSETS_FOLDER,
  CHECKERS_FOLDER,
  MANIFEST_FILE,
  META_FILE,
  RUN_FILES,
} from '../package/layout.ts';
import { normalForm } from '../zip/read-directory.ts';
import { splitJsonItems } from './split-json-items.ts';

export interface LegacySection {
  readonly file: string;
  readonly kind: 'jsonl' | 'json';
  /** Index in the file's `sections`; null if the file is one section. */
  readonly index: number | null;
  readonly name: string;
  /** Metadata of the file on this section and on all its items, the most specific first. */
  readonly blobs: JsonObject[];
}

export interface LegacySources {
  /** In the order of the UTF-8 bytes of their files, then in file order. */
  readonly sections: LegacySection[];
  /** Members of JSON files besides their items, by file. */
  readonly leftovers: Map<string, JsonObject>;
}

/** Reads JSON files to the end, for members after their items. @param errors of files that cannot be read */
export async function findLegacySources(
  archive: Archive,
  errors: ErrorList,
  signal?: AbortSignal,
): Promise<LegacySources> {
  const sections: LegacySection[] = [];
  const leftovers = new Map<string, JsonObject>();
  for (const file of [...archive.files.keys()].sort(compareUtf8)) {
    if (isOtherFile(file)) continue;
    if (/\.jsonl$/i.test(file))
      sections.push({ file, kind: 'jsonl', index: null, name: baseName(file), blobs: [] });
    else if (/\.json$/i.test(file)) {
      const found = await inspectJson(archive, file, signal).catch((error: unknown) => errors.add(error));
      if (found === undefined) continue;
      sections.push(...found.sections);
      if (found.leftover) leftovers.set(file, found.leftover);
    }
  }
  return { sections: withUniqueNames(sections), leftovers };
}

/** Whether a file of a package has no items, whatever its extension. */
export function isOtherFile(file: string): boolean {
  return RUN_FILES.includes(file) || file.startsWith(ASSETS_FOLDER) || file.startsWith(CHECKERS_FOLDER);
}

function baseName(file: string): string {
  return withoutControls(file.replace(/^(?:sections|data)\//, '').replace(/\.jsonl?$/i, ''));
}

async function inspectJson(archive: Archive, file: string, signal?: AbortSignal) {
  const { maxLineBytes: maxValueBytes, maxDepth } = archive.limits;
  const bytes = archive.read(file, { uncounted: true, signal });
  const root: JsonObject = {};
  const members = new Map<number, JsonObject>();
  const withItems = new Set<number | null>();
  try {
    for await (const part of splitJsonItems(bytes, { file, maxValueBytes, maxDepth })) {
      if (part.kind === 'items') withItems.add(part.section);
      if (part.kind !== 'member') continue;
      if (part.section === null) setMember(root, part.key, part.value);
      else {
        const section = members.get(part.section) ?? {};
        members.set(part.section, section);
        setMember(section, part.key, part.value);
      }
    }
  } catch (error) {
    // JSON files with other content have no limit.
    const isOther = error instanceof PackageError && error.code === 'package_limit' && withItems.size === 0;
    if (!isOther) throw error;
  }

  const isBlob = file === MANIFEST_FILE || file === META_FILE;
  const blobs = isBlob ? [] : [root];
  const sections = [...withItems].map((index): LegacySection => {
    const own = index === null ? undefined : (members.get(index) ?? {});
    const name =
      textOf(getMember(own ?? {}, 'name')) ??
      (index === null ? baseName(file) : `${baseName(file)}-${index}`);
    return { file, kind: 'json', index, name, blobs: own ? [own, ...blobs] : blobs };
  });
  const leftover = { ...root };
  if (members.size > 0) leftover['sections'] = [...members.values()];
  return { sections, leftover: sections.length > 0 && Object.keys(leftover).length > 0 ? leftover : null };
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? withoutControls(value) || null : null;
}

/** Sections with the same name get the path of their file as name; if that is not unique either, a number follows. */
function withUniqueNames(sections: readonly LegacySection[]): LegacySection[] {
  const counts = new Map<string, number>();
  for (const { name } of sections) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set<string>();
  return sections.map((section) => {
    const base = (counts.get(section.name) ?? 0) > 1 ? fullName(section) : section.name;
    let name = base;
    for (let number = 2; taken.has(name); number += 1) name = `${base} (${number})`;
    taken.add(name);
    return { ...section, name };
  });
}

function fullName({ file, index, name }: LegacySection): string {
  const path = withoutControls(file.replace(/\.jsonl?$/i, ''));
  return index === null ? path : `${path}/${name}`;
}

/** Finds the file by its path from the root, the item's folder or `assets/`, or else the only path that ends so. */
export function createReferenceResolver(
  files: ArchiveFiles,
): (reference: string, fromFile: string) => string | null {
  let byLastPart: Map<string, string[]> | undefined;
  return (reference, fromFile) => {
    const path = normalPath(reference);
    const folder = fromFile.slice(0, fromFile.lastIndexOf('/') + 1);
    for (const candidate of [path, normalPath(`${folder}${reference}`), path && `assets/${path}`]) {
      if (candidate === null) continue;
      const forms = [candidate, normalForm(candidate, 'NFC'), normalForm(candidate, 'NFD')];
      const found = forms.find((form) => files.has(form));
      if (found !== undefined) return found;
    }
    if (path === null) return null;
    byLastPart ??= groupBy(files.keys(), lastPart);
    const ending = (byLastPart.get(lastPart(path)) ?? []).filter((file) => file.endsWith(`/${path}`));
    const [file, ...others] = ending;
    return file !== undefined && others.length === 0 ? file : null;
  };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A path without `.`, `..`, leading and repeated slashes; null if it is empty or leaves the archive. */
function normalPath(reference: string): string | null {
  const parts: string[] = [];
  for (const part of reference.replaceAll('\\', '/').split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length === 0 ? null : parts.join('/');
}

/** The values by their keys, in the order of their first appearance (`Map.groupBy`, which Node 20 does not have). */
export function groupBy<T, K>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
