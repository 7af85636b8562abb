import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { isJunkFile, isPathInside } from '../package/layout.ts';
import { foldName } from '../zip/read-directory.ts';

/** Content that a package keeps as a file, and the paths that its items give it. */
export interface FileContent {
  readonly folder: 'assets' | 'checkers';
  /** Lower-case hex. */
  readonly sha256: string;
  /** With its dot, or empty. */
  readonly extension: string;
  /** The `path` members of its entries. */
  readonly ownPaths: Iterable<string>;
}

const MAX_PATH_LENGTH = 1024;

/**
 * Chooses the path of each content. The result does not depend on the order of the contents.
 *
 * Content keeps a path of its entries (the first by UTF-8 bytes) if that is a safe path in its folder, no other content
 * has it, and no file system confuses it with another file or with a folder. Otherwise its path is
 * `<folder>/<first two hex digits>/<sha256><extension>`. Each content is written once.
 */
export function chooseFilePaths(contents: readonly FileContent[]): string[] {
  const owners = new Map<string, number>();
  for (const content of contents) {
    for (const path of content.ownPaths) owners.set(path, (owners.get(path) ?? 0) + 1);
  }
  const contentPathAt = (index: number): string => {
    const content = contents[index];
    return content === undefined ? '' : contentPath(content);
  };
  const paths = contents.map((content) => {
    const own = [...content.ownPaths].filter((path) => owners.get(path) === 1 && isUsablePath(path, content));
    return own.sort(compareUtf8)[0] ?? contentPath(content);
  });
  // A path that moves may clash with another one; every round moves at least one.
  for (let clashes = clashingIndexes(paths); ; clashes = clashingIndexes(paths)) {
    const moving = [...clashes].filter((index) => paths[index] !== contentPathAt(index));
    if (moving.length === 0) return paths;
    for (const index of moving) paths[index] = contentPathAt(index);
  }
}

export function contentPath({ folder, sha256, extension }: Omit<FileContent, 'ownPaths'>): string {
  return `${folder}/${sha256.slice(0, 2)}/${sha256}${extension}`;
}

export function isUsablePath(path: string, { folder }: { folder: FileContent['folder'] }): boolean {
  return (
    path.length <= MAX_PATH_LENGTH &&
    path.isWellFormed() &&
    isPathInside(path, `${folder}/`) &&
    !isJunkFile(path)
  );
}

/** Indexes of files with the same name, and of files whose name is a folder of others. */
function clashingIndexes(paths: readonly string[]): Set<number> {
  const firstByName = new Map<string, number>();
  const clashing = new Set<number>();
  for (const [index, path] of paths.entries()) {
    const name = foldName(path);
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, index);
    else clashing.add(first).add(index);
  }
  for (const [name, index] of firstByName) {
    for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
      // Further files of either name clash already.
      const folder = firstByName.get(name.slice(0, slash));
      if (folder !== undefined) clashing.add(folder).add(index);
    }
  }
  return clashing;
}
