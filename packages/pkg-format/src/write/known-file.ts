import { ownText } from '@svc/jsonl-v23/internal';
import { contentPath, isUsablePath } from './choose-file-paths.ts';
import type { EmbeddedFile } from './embedded-files.ts';

/** Content that items embed, as far as they have been read. A dataset may have a hundred thousand. */
export interface KnownFile {
  readonly folder: EmbeddedFile['folder'];
  /** Lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** The first one by its text; empty if no entry has one. */
  extension: string;
  /** The different `path` members of its entries: mostly none or one. */
  ownPaths: readonly string[] | Set<string>;
  /** The path in the package. Until all items are known, lines are written with a guess. */
  path: string;
  /** Index of the first section that embeds it. */
  readonly section: number;
  readonly orderIndex: number;
  /** JSON Pointer of the entry in that item; null for content that is read apart from items. */
  readonly pointer: string | null;
  /** Indexes of the other sections that embed it. */
  otherSections: Set<number> | null;
}

const NO_PATHS: readonly string[] = [];

/** Notes content that no item before has embedded. @param place the section and item */
export function firstUse(
  file: EmbeddedFile,
  { section, orderIndex }: Pick<KnownFile, 'section' | 'orderIndex'>,
): KnownFile {
  const { folder, sha256, byteLength, extension, bytes } = file;
  const ownPath = file.ownPath === null ? null : ownText(file.ownPath);
  return {
    folder,
    sha256,
    bytes: byteLength,
    extension,
    ownPaths: ownPath === null ? NO_PATHS : [ownPath],
    path:
      ownPath !== null && isUsablePath(ownPath, file) ? ownPath : contentPath({ folder, sha256, extension }),
    section,
    orderIndex,
    pointer: bytes === null ? null : file.pointer,
    otherSections: null,
  };
}

/** Notes another use of content. @returns the path that lines are written with */
export function addUse(known: KnownFile, { ownPath, extension }: EmbeddedFile, section: number): string {
  if (section !== known.section) {
    known.otherSections ??= new Set();
    known.otherSections.add(section);
  }
  if (extension !== '' && (known.extension === '' || extension < known.extension))
    known.extension = extension;
  if (ownPath !== null) known.ownPaths = withPath(known.ownPaths, ownPath);
  return known.path;
}

function withPath(paths: KnownFile['ownPaths'], path: string): KnownFile['ownPaths'] {
  if (paths instanceof Set) return paths.add(ownText(path));
  return paths[0] === path ? paths : new Set([...paths, ownText(path)]);
}
