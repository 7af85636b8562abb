import { getMember, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { PackageError } from '../errors.ts';
import {
  ASSETS_FOLDER,
  CHECKERS_FOLDER,
  MANIFEST_FILE,
  META_FILE,
  RESULTS_FILE,
  RUN_CONFIG_FILE,
} from '../package/layout.ts';
import type { Archive } from '../package/open-archive.ts';
import { compareUtf8 } from '../zip/entry-name.ts';
import { splitJsonItems } from './split-json-items.ts';

/** Where the items of one section of a legacy archive come from. */
export interface LegacySection {
  file: string;
  kind: 'jsonl' | 'json';
  /** Index in the file's `sections`; null where the file is one section. */
  index: number | null;
  name: string;
  /** What the file says of this section and of all its items, nearest first. */
  blobs: JsonObject[];
}

export interface LegacySources {
  /** By the UTF-8 bytes of their files, then as they stand in them. */
  sections: LegacySection[];
  /** What JSON files hold beside their items, by file. */
  leftovers: Map<string, JsonObject>;
}

/**
 * Finds the items of a legacy archive: every `*.jsonl`, and every `*.json` that holds items. JSON files are read through
 * once, so that what stands behind their items counts too. Memory does not grow with the items.
 *
 * @throws PackageError `package_invalid_json`, `package_limit`, `package_corrupt`
 */
export async function findLegacySources(archive: Archive, signal?: AbortSignal): Promise<LegacySources> {
  const sections: LegacySection[] = [];
  const leftovers = new Map<string, JsonObject>();
  for (const file of [...archive.files.keys()].sort(compareUtf8)) {
    if (isOtherFile(file)) continue;
    if (/\.jsonl$/i.test(file))
      sections.push({ file, kind: 'jsonl', index: null, name: baseName(file), blobs: [] });
    else if (/\.json$/i.test(file)) {
      const found = await inspectJson(archive, file, signal);
      sections.push(...found.sections);
      if (found.leftover) leftovers.set(file, found.leftover);
    }
  }
  nameApart(sections);
  return { sections, leftovers };
}

/** Files of a package that hold no items, whatever their extension. */
function isOtherFile(file: string): boolean {
  return (
    file === RUN_CONFIG_FILE ||
    file === RESULTS_FILE ||
    file.startsWith(ASSETS_FOLDER) ||
    file.startsWith(CHECKERS_FOLDER)
  );
}

function baseName(file: string): string {
  return file.replace(/^(?:sections|data)\//, '').replace(/\.jsonl?$/i, '');
}

async function inspectJson(archive: Archive, file: string, signal?: AbortSignal) {
  const { maxLineBytes: maxValueBytes, maxDepth } = archive.limits;
  const bytes = archive.read(file, { uncounted: true, ...(signal && { signal }) });
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
    // A JSON file of other content may be as large as it likes.
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
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Sections of one name are called by their file's whole path, and where that is one too, numbered. */
function nameApart(sections: LegacySection[]): void {
  const byName = Map.groupBy(sections, ({ name }) => name);
  for (const [, group] of byName) {
    if (group.length > 1) for (const section of group) section.name = fullName(section);
  }
  const taken = new Set<string>();
  for (const section of sections) {
    let name = section.name;
    for (let number = 2; taken.has(name); number++) name = `${section.name} (${number})`;
    section.name = name;
    taken.add(name);
  }
}

function fullName({ file, index, name }: LegacySection): string {
  const path = file.replace(/\.jsonl?$/i, '');
  return index === null ? path : `${path}/${name}`;
}
