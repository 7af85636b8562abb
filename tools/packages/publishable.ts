import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** What the checks read of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A package that others install. */
export interface PublishablePackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The packages that are not private. */
export function publishablePackages(): PublishablePackage[] {
  return readdirSync(join(ROOT, 'packages')).flatMap((name) => {
    const folder = join(ROOT, 'packages', name);
    if (!existsSync(join(folder, 'package.json'))) return [];
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return manifest.private === true ? [] : [{ folder, manifest }];
  });
}
