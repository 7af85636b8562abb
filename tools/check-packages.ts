/**
 * Checks the published packages as their users get them, over the network: packs them, lints the tarballs, installs
 * them with npm into an empty project, and runs there every program of the READMEs and of `examples/`, as TypeScript and
 * as JavaScript, and every command of the command line, on the oldest and the newest patch of each supported version of
 * Node. Prints a table of commands by versions, and sizes. Exits 1 if anything fails.
 *
 * `packages.long.test.ts` does the same without a network, on one Node and with fewer forms of the programs.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStandalone } from '../apps/standalone/test/run-standalone.ts';
import { findChromium, NO_CHROMIUM } from './browser/find-chromium.ts';
import { type CommandService, runEveryCommand } from './node-versions/every-command.ts';
import { runEveryProgram, versionOf } from './node-versions/every-program.ts';
import { type Failures, failuresIn, failureTable } from './node-versions/failures.ts';
import { NEWER_NAMES, namesMissingIn, OLDEST_NODES, type RuntimeNames } from './node-versions/newer-names.ts';
import { buildPage, bundleSizes, runPage } from './packages/browser-check.ts';
import { checkTypes, createConsumerProject } from './packages/consumer-project.ts';
import { convertLegacyArchive, printedByOldNode } from './packages/convert-legacy-archive.ts';
import { dependenciesOf } from './packages/dependencies.ts';
import { startExampleHub } from './packages/example-checks.ts';
import { installByName } from './packages/install-by-name.ts';
import { installSize } from './packages/install-size.ts';
import { startLoopbackRegistry } from './packages/loopback-registry.ts';
import { packPackages, problemsOf } from './packages/pack-packages.ts';
import { publishablePackages, ROOT } from './packages/publishable.ts';
import { publishTo, rehearseRelease } from './packages/rehearse-release.ts';
import { runProgram } from './packages/run-program.ts';

/** The oldest and the newest patch of each version that the packages support. */
const NODES = [...OLDEST_NODES, '20', '22', '24'].toSorted();
/** What the command line refuses. */
const REFUSED_NODES = ['18.20.0', '22.0.0'];

const LIST_NAMES = fileURLToPath(new URL('node-versions/list-runtime-names.mjs', import.meta.url));

const log = (text: string): void => console.log(text);

const folder = await mkdtemp(join(tmpdir(), 'svc-packages-'));
try {
  const packages = await packPackages(folder);
  for (const pkg of packages) {
    const problems = await problemsOf(pkg);
    if (problems.length > 0) throw new Error(`${pkg.manifest.name}:\n${problems.join('\n')}`);
    log(`${pkg.manifest.name} ${pkg.packed.version}: ${pkg.files.length} files, no problem`);
  }

  const projectFolder = join(folder, 'project');
  await mkdir(projectFolder);
  const project = await createConsumerProject(projectFolder, packages, 'npm');
  await checkTypes(project);
  log('installed by npm; all programs and declarations have the right types');

  await using cleanUp = new AsyncDisposableStack();
  const hub = await startExampleHub();
  cleanUp.defer(() => hub.close());
  const nodes = new Map<string, Promise<string>>();
  const installedNode = (version: string): Promise<string> => {
    const node = nodes.get(version) ?? installNode(version, folder);
    nodes.set(version, node);
    return node;
  };
  const names = async (node: string): Promise<RuntimeNames> =>
    JSON.parse((await runProgram(node, ['--no-warnings', LIST_NAMES])).text);
  const oldest = await Promise.all(OLDEST_NODES.map(async (version) => names(await installedNode(version))));
  const newer = namesMissingIn(oldest, await names(process.execPath));
  assert.deepEqual(NEWER_NAMES, newer, 'write these names to tools/node-versions/newer-names.json');

  const service = await startService(join(folder, 'service'), hub.endpoint);
  cleanUp.defer(() => service.stop());
  const env = { HUB_ENDPOINT: hub.endpoint, SVC_API_URL: service.url, SVC_API_KEY: service.apiKey };
  const found = new Map<string, Failures>();
  for (const version of NODES) {
    const node = await installedNode(version);
    const programs = await runEveryProgram(project, packages, node, env);
    found.set(
      await versionOf(node),
      new Map([...programs, ...(await runEveryCommand(project, node, service))]),
    );
  }
  log(failureTable(found));
  const failures = failuresIn(found);
  if (failures.length > 0) throw new Error(failures.join('\n'));

  await using registry = await startLoopbackRegistry(dependenciesOf(publishablePackages()));
  await publishTo(ROOT, registry.url, join(folder, 'npm-cache'));
  for (const version of NODES) {
    await convertLegacyArchive(project, await installedNode(version));
    await installByName(folder, registry.url, await installedNode(version));
    log(`npx svc-pkg converts a legacy archive on Node ${await versionOf(await installedNode(version))}`);
  }
  for (const version of REFUSED_NODES) {
    const printed = await printedByOldNode(project, await installedNode(version));
    assert.equal(printed, `svc-pkg needs Node 20.19, 22.12 or newer, this is ${version}.\n`);
  }
  const size = await installSize('svc-pkg', packages);
  log(`svc-pkg installs ${size.packages.length} packages of ${kilobytes(size.bytes)}`);

  const rehearsal = join(folder, 'rehearsal');
  await mkdir(rehearsal);
  const { published } = await rehearseRelease(rehearsal);
  log(`a clean clone publishes ${published.join(', ')}; npx installs svc-pkg from there by its name`);

  const page = await buildPage(project);
  for (const { entry, bytes, gzipBytes, wholeGzipBytes } of await bundleSizes(project)) {
    log(
      `${entry} in a bundle: ${kilobytes(bytes)}, ${kilobytes(gzipBytes)} with gzip, ${kilobytes(wholeGzipBytes)} in all`,
    );
  }
  const chromium = await findChromium();
  if (chromium === null) {
    log(`SKIPPED: ${NO_CHROMIUM}; the page was not run`);
  } else {
    await runPage(project, page, chromium, process.execPath);
    log('the page made, read, showed and hashed a package, and previewed a dataset');
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Installs a version of Node from the registry; returns the path of its binary. */
async function installNode(version: string, parent: string): Promise<string> {
  const into = join(parent, `node-${version}`);
  await mkdir(into);
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  await runProgram('npm', ['install', '--prefix', into, ...quiet, `node@${version}`], { cwd: into });
  return join(into, 'node_modules/node/bin/node');
}

/** Starts the built service, with its own database, on the Node that runs this. */
async function startService(
  dataDir: string,
  hubEndpoint: string,
): Promise<CommandService & { stop(): Promise<void> }> {
  const apiKey = 'a-key-of-an-admin';
  const env = { SVC_API_KEYS: `admin:${apiKey}`, HUB_ENDPOINT: hubEndpoint };
  const { url, end } = await runStandalone(dataDir, env);
  return { url, apiKey, hubEndpoint, stop: async () => void (await end('SIGTERM')) };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
