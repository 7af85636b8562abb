/**
 * Publishes every package whose version the registry does not have yet, dependencies first. Packs and lints them like
 * `check-packages.ts`. You can repeat an interrupted run.
 *
 *   node tools/publish-packages.ts [options of npm]
 *
 * npm reads its registry and credentials from its configuration. In the release workflow it uses the identity of the
 * workflow ("trusted publishing"), and `NPM_CONFIG_PROVENANCE` makes npm sign the provenance of the packages.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PackedPackage, packPackages, problemsOf } from './packages/pack-packages.ts';

const npmOptions = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'svc-publish-'));
try {
  const packages = dependenciesFirst(await packPackages(folder));
  const found = await Promise.all(packages.map(async (pkg) => ({ pkg, problems: await problemsOf(pkg) })));
  for (const { pkg, problems } of found) {
    if (problems.length > 0) throw new Error(`${pkg.manifest.name}:\n${problems.join('\n')}`);
  }
  for (const { manifest, packed, tarball } of packages) {
    const release = `${manifest.name}@${packed.version}`;
    if (isPublished(release)) {
      console.log(`${release} is published already`);
      continue;
    }
    const { status } = npm(['publish', tarball, '--access', 'public'], 'inherit');
    if (status !== 0) throw new Error(`${release} could not be published`);
    console.log(`${release} is published`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
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

function isPublished(release: string): boolean {
  const { status, stdout, stderr } = npm(['view', release, 'version'], 'pipe');
  // npm prints nothing for a package that exists without this version
  if (status === 0) return stdout.trim() !== '';
  if (/\bE404\b/.test(stderr)) return false;
  throw new Error(`the registry does not say whether it has ${release}:\n${stderr}`);
}

function npm(
  args: readonly string[],
  output: 'inherit' | 'pipe',
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr, error } = spawnSync('npm', [...args, ...npmOptions], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', output, output],
  });
  if (error !== undefined) throw error;
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' };
}
