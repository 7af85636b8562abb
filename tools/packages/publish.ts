import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PackedPackage } from './pack-packages.ts';

/**
 * Publishes every package whose version the registry does not have yet, dependencies first; yields the outcome of each.
 *
 * @param npmOptions such as the registry and the credentials, which npm else reads from its configuration
 * @throws Error if npm refuses a package, or the registry does not answer
 */
export async function* publish(
  packages: readonly PackedPackage[],
  npmOptions: readonly string[],
): AsyncGenerator<string> {
  for (const { manifest, packed, tarball } of dependenciesFirst(packages)) {
    const npm = (args: readonly string[], output: 'inherit' | 'pipe'): Promise<NpmResult> =>
      runNpm([...args, ...npmOptions], dirname(tarball), output);
    const release = `${manifest.name}@${packed.version}`;
    if (isPublished(release, await npm(['view', release, 'version'], 'pipe'))) {
      yield `${release} is published already`;
      continue;
    }
    const { code } = await npm(['publish', tarball, '--access', 'public'], 'inherit');
    if (code !== 0) throw new Error(`${release} could not be published`);
    yield `${release} is published`;
  }
}

/** Sorts packages so that each comes after its dependencies. */
function dependenciesFirst(packages: readonly PackedPackage[]): PackedPackage[] {
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const ordered = new Map<string, PackedPackage>();
  while (ordered.size < packages.length) {
    const ready = packages.filter(
      ({ manifest, packed }) =>
        !ordered.has(manifest.name) &&
        Object.keys(packed.dependencies ?? {}).every((name) => !names.has(name) || ordered.has(name)),
    );
    if (ready.length === 0) throw new Error('the packages depend on each other in a circle');
    for (const pkg of ready) ordered.set(pkg.manifest.name, pkg);
  }
  return [...ordered.values()];
}

interface NpmResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function isPublished(release: string, { code, stdout, stderr }: NpmResult): boolean {
  // npm prints nothing for a package that exists without this version
  if (code === 0) return stdout.trim() !== '';
  if (/\bE404\b/.test(stderr)) return false;
  throw new Error(`the registry does not say whether it has ${release}:\n${stderr}`);
}

async function runNpm(args: readonly string[], cwd: string, output: 'inherit' | 'pipe'): Promise<NpmResult> {
  const child = spawn('npm', args, { cwd, stdio: ['ignore', output, output] });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
