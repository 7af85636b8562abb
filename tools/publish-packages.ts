/**
 * Publishes every package whose version the registry does not have yet, dependencies first. Packs and lints them like
 * `check-packages.ts`. You can repeat an interrupted run.
 *
 *   node tools/publish-packages.ts [options of npm]
 *
 * npm reads its registry and credentials from its configuration. In the release workflow it uses the identity of the
 * workflow ("trusted publishing"), and `NPM_CONFIG_PROVENANCE` makes npm sign the provenance of the packages.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPackages, problemsOf } from './packages/pack-packages.ts';
import { publish } from './packages/publish.ts';

const folder = await mkdtemp(join(tmpdir(), 'svc-publish-'));
try {
  const packages = await packPackages(folder);
  const found = await Promise.all(packages.map(async (pkg) => ({ pkg, problems: await problemsOf(pkg) })));
  for (const { pkg, problems } of found) {
    if (problems.length > 0) throw new Error(`${pkg.manifest.name}:\n${problems.join('\n')}`);
  }
  for await (const line of publish(packages, process.argv.slice(2))) console.log(line);
} finally {
  await rm(folder, { recursive: true, force: true });
}
