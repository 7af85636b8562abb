import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackedPackage } from './pack-packages.ts';
import type { Manifest } from './publishable.ts';

/** What installing a package brings. */
export interface InstallSize {
  /** `name@version`, the package itself included, sorted. */
  readonly packages: readonly string[];
  /** Total size of all files. */
  readonly bytes: number;
}

/**
 * What npm installs with a packed package, without a network: its own files, and its dependencies as they are in the
 * workspace.
 */
export async function installSize(name: string, packed: readonly PackedPackage[]): Promise<InstallSize> {
  const own = new Map(packed.map((pkg) => [pkg.manifest.name, pkg]));
  const sizes = new Map<string, number>();
  const visit = async (folder: string, manifest: Manifest, bytes: () => Promise<number>): Promise<void> => {
    const key = `${manifest.name}@${manifest.version}`;
    if (sizes.has(key)) return;
    sizes.set(key, await bytes());
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const workspace = own.get(dependency);
      if (workspace !== undefined) {
        await visit(workspace.folder, workspace.packed, async () => workspace.unpackedBytes);
        continue;
      }
      const target = await dependencyFolder(folder, dependency);
      const found: Manifest = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
      await visit(target, found, () => folderBytes(target));
    }
  };
  const root = own.get(name);
  if (root === undefined) throw new Error(`${name} is not packed`);
  await visit(root.folder, root.packed, async () => root.unpackedBytes);
  return {
    packages: [...sizes.keys()].sort(),
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
  };
}

/** The folder of a dependency: next to the package in pnpm's store, or in the package's own `node_modules`. */
function dependencyFolder(folder: string, name: string): Promise<string> {
  const up = folder.includes('/node_modules/')
    ? folder.slice(0, folder.lastIndexOf('/node_modules/'))
    : folder;
  return realpath(join(up, 'node_modules', name));
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await folderBytes(path) : (await stat(path)).size;
  }
  return bytes;
}
