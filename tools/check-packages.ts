/**
 * Checks the published packages as their users get them, over the network: packs them, lints the tarballs, installs
 * them with npm into an empty project, and runs every program of the READMEs and of `examples/` there, as TypeScript and
 * as JavaScript, on the oldest supported Node and on the newest. Prints sizes. Exits 1 at the first error.
 *
 * `packages.test.ts` does the same without a network and on one Node.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, NO_CHROMIUM } from './browser/find-chromium.ts';
import { buildPage, bundleSizes, runPage } from './packages/browser-check.ts';
import { checkTypes, createConsumerProject, requireEntries } from './packages/consumer-project.ts';
import {
  buildLegacyArchive,
  convertLegacyArchive,
  printedByOldNode,
} from './packages/convert-legacy-archive.ts';
import { dependenciesOf } from './packages/dependencies.ts';
import { EXAMPLE_CHECKS, runExample, startExampleHub } from './packages/example-checks.ts';
import { installByName } from './packages/install-by-name.ts';
import { installSize } from './packages/install-size.ts';
import { startLoopbackRegistry } from './packages/loopback-registry.ts';
import { packPackages, problemsOf } from './packages/pack-packages.ts';
import { publishablePackages, ROOT } from './packages/publishable.ts';
import { publishTo, rehearseRelease } from './packages/rehearse-release.ts';
import { runProgram } from './packages/run-program.ts';

/** The oldest version that runs the programs, which are TypeScript; the newest is the one that runs this. */
const OLDEST_NODE = '22.19.0';
/** The oldest version in `engines` of the command line, and one that it refuses. */
const OLDEST_CLI_NODE = '20.19.0';
/** Versions of Node with which npx installs and runs the command line. */
const CLI_NODES = [OLDEST_CLI_NODE, '20.20.2', OLDEST_NODE, '24.0.0'];
const REFUSED_NODE = '18.20.0';

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
  const env = { HUB_ENDPOINT: hub.endpoint };
  const nodes = new Map<string, Promise<string>>();
  const installedNode = (version: string): Promise<string> => {
    const node = nodes.get(version) ?? installNode(version, folder);
    nodes.set(version, node);
    return node;
  };
  for (const node of [await installedNode(OLDEST_NODE), process.execPath]) {
    const { text: version } = await runProgram(node, ['--version']);
    await requireEntries(project, packages, node);
    for (const extension of ['.ts', '.js', '.cjs'] as const) {
      const workFolder = await mkdtemp(join(folder, 'work-'));
      await writeFile(join(workFolder, 'legacy.zip'), buildLegacyArchive());
      const runner = { node, folder: project.programs[extension], extension, workFolder };
      if (extension !== '.cjs') for (const check of Object.values(EXAMPLE_CHECKS)) await check(runner, env);
      for (const { name, output } of project.readmePrograms) {
        const { text } = await runExample(runner, name, [], env);
        if (text !== output) throw new Error(`${name}${extension} prints\n${text}instead of\n${output}`);
      }
    }
    const programs = Object.keys(EXAMPLE_CHECKS).length + project.readmePrograms.length;
    log(`${programs} programs run as .ts, .js and .cjs on Node ${version.trim()}`);
  }

  await using registry = await startLoopbackRegistry(dependenciesOf(publishablePackages()));
  await publishTo(ROOT, registry.url, join(folder, 'npm-cache'));
  for (const version of CLI_NODES) {
    await convertLegacyArchive(project, await installedNode(version));
    await installByName(folder, registry.url, await installedNode(version));
    log(`npx svc-pkg converts a legacy archive on Node ${version}`);
  }
  const printed = await printedByOldNode(project, await installedNode(REFUSED_NODE));
  if (printed !== `svc-pkg needs Node 20.19 or newer, this is ${REFUSED_NODE}.\n`) throw new Error(printed);
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

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
