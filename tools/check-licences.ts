/**
 * Checks the licences of all installed production dependencies of the service, direct and indirect. Prints each that is
 * not on the list as `name@version: licence` and exits 1.
 */
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Licences (SPDX identifiers) that dependencies of this service, which is MIT, may have. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'Zlib', 'PostgreSQL'],
  ...['BlueOak-1.0.0', 'CC0-1.0', 'Unlicense', 'Unicode-3.0', 'Python-2.0', 'OFL-1.1'],
]);

const WORKSPACES = ['packages/*/package.json', 'apps/*/package.json'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string | { readonly type?: string };
  /** As manifests of long ago state it: any of these */
  readonly licenses?: readonly { readonly type?: string }[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Whether a licence expression (SPDX 2.3, annex D) can be met by allowed licences alone: one side of an `OR`, both of an
 * `AND`. Exceptions and unreadable expressions are not allowed.
 */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  const one = (): boolean => {
    const token = tokens[at++];
    if (token !== '(') return token !== undefined && ALLOWED.has(token);
    const inner = either();
    return tokens[at++] === ')' && inner;
  };
  const both = (): boolean => {
    let allowed = one();
    while (tokens[at] === 'AND') {
      at += 1;
      allowed = one() && allowed;
    }
    return allowed;
  };
  const either = (): boolean => {
    let allowed = both();
    while (tokens[at] === 'OR') {
      at += 1;
      allowed = both() || allowed;
    }
    return allowed;
  };
  return either() && at === tokens.length;
}

/** The licence of a manifest as an expression; empty if it has none. */
export function licenceOf({ license, licenses }: Pick<Manifest, 'license' | 'licenses'>): string {
  if (typeof license === 'string') return license;
  if (license?.type !== undefined) return license.type;
  return (licenses ?? []).map(({ type }) => type ?? '').join(' OR ');
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The folder in which Node finds an imported package; undefined for an optional one of another platform. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
    if (folder === dirname(folder)) return undefined;
  }
}

/** Every production dependency, direct or indirect, once, with its folder; includes packages of the workspace. */
export function productionPackages(root: string): ReadonlyMap<string, Manifest> {
  const found = new Map<string, Manifest>();
  const waiting = WORKSPACES.flatMap((pattern) => globSync(pattern, { cwd: root })).map((path) =>
    join(root, dirname(path)),
  );
  for (const folder of waiting) {
    if (found.has(folder)) continue;
    const manifest = readManifest(folder);
    found.set(folder, manifest);
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const location = findPackage(name, folder);
      if (location !== undefined) waiting.push(location);
      else if (!(name in optionalDependencies))
        throw new Error(`${manifest.name} needs ${name}, which is not there`);
    }
  }
  return found;
}

if (import.meta.main) {
  const packages = [...productionPackages(fileURLToPath(new URL('..', import.meta.url))).values()];
  const wrong = packages.filter((manifest) => !isAllowed(licenceOf(manifest)));
  for (const manifest of wrong) {
    console.error(`${manifest.name}@${manifest.version}: ${licenceOf(manifest) || 'no licence'}`);
  }
  if (wrong.length > 0) {
    console.error('use another package, or add the licence in tools/check-licences.ts');
    process.exit(1);
  }
  console.log(`${packages.length} packages, all under licences that are allowed`);
}
