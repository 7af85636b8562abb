import { join } from 'node:path';
import { dependenciesOf } from './dependencies.ts';
import { installByName } from './install-by-name.ts';
import { startLoopbackRegistry } from './loopback-registry.ts';
import { publishablePackages, ROOT } from './publishable.ts';
import { runProgram } from './run-program.ts';

/**
 * Does what the release workflow does, without leaving the machine: clones what is committed, installs, builds and publishes it
 * to a registry on the loopback interface, and installs `svc-pkg` from there by its name.
 *
 * @param folder an empty folder
 * @throws Error with what the failed program printed
 */
export async function rehearseRelease(folder: string): Promise<{ published: readonly string[] }> {
  const clone = join(folder, 'clone');
  await runProgram('git', ['clone', '--quiet', ROOT, clone]);
  const pnpm = ['--yes', 'pnpm@12.21.0'];
  const env = { TURBO_TELEMETRY_DISABLED: '1' };
  await runProgram('npx', [...pnpm, 'install', '--frozen-lockfile', '--prefer-offline'], { cwd: clone, env });
  await runProgram('npx', [...pnpm, 'run', 'build'], { cwd: clone, env });
  await using registry = await startLoopbackRegistry(dependenciesOf(publishablePackages(clone)));
  await publishTo(clone, registry.url, join(folder, 'cache'));
  await installByName(folder, registry.url, process.execPath);
  return { published: registry.published.map(({ name }) => name) };
}

/** Options of npm that publish without the signature, which only the identity of a workflow can make. */
export const rehearsalOptions = (registry: string, cache: string): readonly string[] => [
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
