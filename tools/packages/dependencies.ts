import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest, PublishablePackage } from './publishable.ts';

/** A package of others, in the folder in which it is installed. */
export interface Dependency {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** What packages of the workspace need of others, and what that needs: each version once. */
export function dependenciesOf(packages: readonly PublishablePackage[]): Dependency[] {
  const own = new Set(packages.map(({ manifest }) => manifest.name));
  const found = new Map<string, Dependency>();
  const visit = ({ folder, manifest }: Dependency): void => {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (own.has(name)) continue;
      const target = dependencyFolder(folder, name);
      const dependency = { folder: target, manifest: readManifest(target) };
      const key = `${name}@${dependency.manifest.version}`;
      if (found.has(key)) continue;
      found.set(key, dependency);
      visit(dependency);
    }
  };
  for (const one of packages) visit(one);
  return [...found.values()];
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The folder of a dependency: next to the package in pnpm's store, or in the package's own `node_modules`. */
export function dependencyFolder(folder: string, name: string): string {
  const up = folder.includes('/node_modules/')
    ? folder.slice(0, folder.lastIndexOf('/node_modules/'))
    : folder;
  return realpathSync(join(up, 'node_modules', name));
}
