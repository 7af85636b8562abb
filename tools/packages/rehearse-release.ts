import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { dependenciesOf } from './dependencies.ts';
import { installByName } from './install-by-name.ts';
import { type Publication, startLoopbackRegistry } from './loopback-registry.ts';
import { type PublishablePackage, publishablePackages, ROOT } from './publishable.ts';
import { runProgram } from './run-program.ts';

/**
 * Does what the release workflow does, without leaving the machine: clones what is committed, installs, builds and publishes it
 * to a registry on the loopback interface, publishes again as after an interruption, and installs `svc-pkg` from there by its
 * name.
 *
 * @param folder an empty folder
 * @throws Error with what the failed program printed, or AssertionError if the registry got something else
 */
export async function rehearseRelease(folder: string): Promise<{ published: readonly string[] }> {
  const clone = join(folder, 'clone');
  await runProgram('git', ['clone', '--quiet', ROOT, clone]);
  const pnpm = ['--yes', 'pnpm@12.21.0'];
  const env = { TURBO_TELEMETRY_DISABLED: '1' };
  await runProgram('npx', [...pnpm, 'install', '--frozen-lockfile', '--prefer-offline'], { cwd: clone, env });
  await runProgram('npx', [...pnpm, 'run', 'build'], { cwd: clone, env });
  const packages = publishablePackages(clone);
  await using registry = await startLoopbackRegistry(dependenciesOf(packages));
  await publishTo(clone, registry.url, join(folder, 'cache'));
  checkPublications(registry.published, packages);
  const published = registry.published.map(({ name }) => name);
  registry.published.pop();
  await publishTo(clone, registry.url, join(folder, 'cache'));
  assert.deepEqual(
    registry.published.map(({ name }) => name),
    published,
    'only what is missing is published again',
  );
  await installByName(folder, registry.url, process.execPath);
  return { published };
}

/** Each package once, for everybody, as the latest, after the packages of the repository that it depends on. */
function checkPublications(
  publications: readonly Publication[],
  packages: readonly PublishablePackage[],
): void {
  const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version] as const));
  assert.deepEqual(publications.map(({ name }) => name).sort(), [...versions.keys()].sort());
  const before = new Set<string>();
  for (const { name, access, versions: uploaded, 'dist-tags': tags, _attachments } of publications) {
    const version = versions.get(name) ?? '';
    assert.deepEqual({ name, access, tags }, { name, access: 'public', tags: { latest: version } });
    assert.ok((Object.values(_attachments)[0]?.data.length ?? 0) > 1000, `${name} has a tarball`);
    for (const [other, range] of Object.entries(uploaded[version]?.dependencies ?? {})) {
      if (!versions.has(other)) continue;
      assert.equal(range, `^${versions.get(other)}`);
      assert.ok(before.has(other), `${name} is published before ${other}`);
    }
    before.add(name);
  }
}

/** Options of npm that publish without the signature, which only the identity of a workflow can make. */
const rehearsalOptions = (registry: string, cache: string): readonly string[] => [
  `--registry=${registry}`,
  `--${registry.replace('http:', '')}:_authToken=of-this-rehearsal`,
  `--cache=${cache}`,
  '--no-provenance',
];

/** Publishes the packages of a repository, see `rehearsalOptions`. */
export async function publishTo(repository: string, registry: string, cache: string): Promise<void> {
  const args = ['tools/publish-packages.ts', ...rehearsalOptions(registry, cache)];
  await runProgram(process.execPath, args, { cwd: repository });
}
