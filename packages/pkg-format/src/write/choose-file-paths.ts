import { isJunkFile } from '../package/layout.ts';
import { compareUtf8, foldName, isPathInside } from '../zip/entry-name.ts';

/** A content that a package keeps as a file, with everything that its items say of where. */
export interface FileContent {
  folder: 'assets' | 'checkers';
  /** Lower-case hex. */
  sha256: string;
  /** With its dot, or empty. */
  extension: string;
  /** The paths that its entries bear. */
  ownPaths: ReadonlySet<string>;
}

const MAX_PATH_LENGTH = 1024;

/**
 * Says under which path each content is written; the same contents get the same paths, in whatever order they come.
 *
 * A content keeps a path of its own entries (the first by UTF-8 bytes) where that is a safe path in its folder, no other
 * content bears it, and no file system would take it for another file's or for a folder that is needed. Otherwise it
 * lies at `<folder>/<first two hex digits>/<sha256><extension>`. Each content is written once.
 */
export function chooseFilePaths(contents: readonly FileContent[]): string[] {
  const owners = new Map<string, number>();
  for (const content of contents) {
    for (const path of content.ownPaths) owners.set(path, (owners.get(path) ?? 0) + 1);
  }
  const paths = contents.map((content) => {
    const own = [...content.ownPaths].filter((path) => owners.get(path) === 1 && isUsablePath(path, content));
    return own.sort(compareUtf8)[0] ?? contentPath(content);
  });
  // A content that gives way may get in another's way in turn; every round moves at least one.
  for (let clashes = clashingIndexes(paths); ; clashes = clashingIndexes(paths)) {
    const moving = clashes.filter((index) => paths[index] !== contentPath(contents[index]!));
    if (moving.length === 0) return paths;
    for (const index of moving) paths[index] = contentPath(contents[index]!);
  }
}

/** Where a content lies that has no path of its own. */
export function contentPath({ folder, sha256, extension }: Omit<FileContent, 'ownPaths'>): string {
  return `${folder}/${sha256.slice(0, 2)}/${sha256}${extension}`;
}

/** Whether an entry's own path can be a file's name in a package. */
export function isUsablePath(path: string, { folder }: { folder: FileContent['folder'] }): boolean {
  return (
    path.length <= MAX_PATH_LENGTH &&
    path.isWellFormed() &&
    isPathInside(path, `${folder}/`) &&
    !isJunkFile(path)
  );
}

/** Files of one name, and files whose name is a folder of others. */
function clashingIndexes(paths: readonly string[]): number[] {
  const byName = new Map<string, number[]>();
  for (const [index, path] of paths.entries()) {
    const name = foldName(path);
    const others = byName.get(name);
    if (others) others.push(index);
    else byName.set(name, [index]);
  }
  const clashing = new Set<number>();
  for (const [name, indexes] of byName) {
    if (indexes.length > 1) for (const index of indexes) clashing.add(index);
    for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
      const folder = byName.get(name.slice(0, slash));
      if (folder) for (const index of [...folder, ...indexes]) clashing.add(index);
    }
  }
  return [...clashing];
}
