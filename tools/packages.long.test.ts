import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, NO_CHROMIUM } from './browser/find-chromium.ts';
import { buildPage, bundleSizes, runPage } from './packages/browser-check.ts';
import {
  type ConsumerProject,
  checkTypes,
  createConsumerProject,
  requireEntries,
} from './packages/consumer-project.ts';
import { buildLegacyArchive, convertLegacyArchive } from './packages/convert-legacy-archive.ts';
import {
  EXAMPLE_CHECKS,
  EXAMPLES_OF_SERVICE,
  type ExampleRunner,
  runExample,
  startExampleHub,
} from './packages/example-checks.ts';
import { installSize } from './packages/install-size.ts';
import { type PackedPackage, packPackages, problemsOf } from './packages/pack-packages.ts';
import { publishablePackages, ROOT } from './packages/publishable.ts';
import { needsService, readmeExamples } from './packages/readme-examples.ts';
import { printedInBrowser, runsInBrowsers } from './packages/readme-in-browser.ts';

const cleanUp = new AsyncDisposableStack();
let folder: string;
let packages: readonly PackedPackage[];
let project: ConsumerProject;
let page: string;
let legacyArchive: string;
const env: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-packages-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  packages = await packPackages(folder);
  await mkdir(join(folder, 'project'));
  project = await createConsumerProject(join(folder, 'project'), packages, 'links');
  page = await buildPage(project);
  legacyArchive = join(folder, 'legacy.zip');
  await writeFile(legacyArchive, buildLegacyArchive());
  const hub = await startExampleHub();
  cleanUp.defer(() => hub.close());
  env['HUB_ENDPOINT'] = hub.endpoint;
});
afterAll(() => cleanUp.disposeAsync());

async function runner(extension: ExampleRunner['extension']): Promise<ExampleRunner> {
  const workFolder = await mkdtemp(join(project.folder, 'work-'));
  return { node: process.execPath, folder: project.programs[extension], extension, workFolder };
}

const names = publishablePackages().map(({ manifest }) => manifest.name);
const readmePrograms = publishablePackages().flatMap(({ folder }) => readmeExamples(folder));
const localExamples = (of: string) => readmeExamples(of).filter((program) => !needsService(program));
const localPrograms = publishablePackages().flatMap(({ folder: of }) => localExamples(of));

it('publishes what the README of the repository names', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  for (const name of names) expect(readme).toContain(`\`${name}\``);
  expect(names).toHaveLength(8);
});

it.each(names)('the tarball of %s is in order', async (name) => {
  const pkg = packages.find(({ manifest }) => manifest.name === name) as PackedPackage;
  expect(await problemsOf(pkg)).toEqual([]);
});

it.each(['svc-pkg', '@svc/observability'])('%s installs no more than its README says', async (name) => {
  const folder = publishablePackages().find(({ manifest }) => manifest.name === name)?.folder ?? '';
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const [, count, megabytes] = /(\d+) packages (?:and|of) ([\d.]+) MB/.exec(readme) ?? [];
  const { packages: installed, bytes } = await installSize(name, packages);
  console.log(`${name} installs ${installed.length} packages of ${bytes} bytes`);
  expect(installed.length, installed.join(' ')).toBeLessThanOrEqual(Number(count));
  expect(bytes).toBeLessThan(Number(megabytes) * 1.04e6);
});

describe('in an empty project', () => {
  it('svc-pkg converts a legacy archive', () => convertLegacyArchive(project, process.execPath));

  it('svc-pkg tells an older Node what it needs', () => {
    const older = "Object.defineProperty(process, 'versions', { value: { node: '22.0.0' } })";
    const main = join(project.folder, 'node_modules/svc-pkg/dist/main.js');
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${older}`, main, '--help'],
      { encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([1, 'svc-pkg needs Node 20.19, 22.12 or newer, this is 22.0.0.\n']);
  });

  it('programs and declarations have the right types', () => checkTypes(project));

  it('older modules require the entries', () => requireEntries(project, packages, process.execPath));

  // `npm run check:packages` runs every program in every form, here all run as TypeScript, one of each place in
  // another form, and every entry is required above
  it.each([
    ...Object.keys(EXAMPLE_CHECKS).map((name) => [name, '.ts'] as const),
    ['map-rows', '.js'] as const,
  ])('examples/%s%s does what it says', async (name, extension) => {
    await EXAMPLE_CHECKS[name]?.(await runner(extension), env);
  });

  it.each([
    ...localPrograms.map(({ name, output }) => [name, '.ts', output] as const),
    ...localPrograms.slice(0, 1).map(({ name, output }) => [name, '.cjs', output] as const),
  ])('the README program %s runs as %s', async (name, extension, output) => {
    const program = await runner(extension);
    await copyFile(legacyArchive, join(program.workFolder, 'legacy.zip'));
    expect((await runExample(program, name, [], env)).text).toBe(output);
  });

  it('dispatchers of undici 6 and 8 carry requests', async () => {
    const { text } = await runExample(await runner('.ts'), 'dispatchers', [], env);
    expect(text).toBe('openai/gsm8k\nopenai/gsm8k\n');
  });

  it('README programs run in a browser', async (context) => {
    const chromium = await findChromium();
    if (chromium === null) return context.skip(NO_CHROMIUM);
    const programs = readmePrograms.filter(runsInBrowsers);
    const printed = await printedInBrowser(project, programs, chromium);
    expect(Object.fromEntries(printed)).toEqual(
      Object.fromEntries(programs.map(({ name, output }) => [name, output])),
    );
  });

  it.each(readmePrograms)('the README program $name has at most 10 lines', ({ code }) => {
    const lines = code
      .replaceAll(/^import [^;]*;$/gm, '')
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines.length).toBeLessThanOrEqual(10);
  });

  it('a page makes, reads, shows and hashes a package', async (context) => {
    const chromium = await findChromium();
    if (chromium === null) return context.skip(NO_CHROMIUM);
    await runPage(project, page, chromium, process.execPath);
  });

  it('bundles for browsers have the sizes that the READMEs state', async () => {
    for (const { entry, bytes, gzipBytes, wholeGzipBytes } of await bundleSizes(project)) {
      console.log(`${entry} in a bundle: ${bytes} bytes, ${gzipBytes} with gzip, ${wholeGzipBytes} in all`);
      const pkg = publishablePackages().find(({ manifest }) => `${entry}/`.startsWith(`${manifest.name}/`));
      const readme = await readFile(join(pkg?.folder ?? '', 'README.md'), 'utf8');
      const row = readme.split('\n').find((line) => line.startsWith(`| \`${entry}\``)) ?? '';
      const stated = [...row.matchAll(/(\d+) kB/g)].map(([, size]) => Number(size) * 1000);
      expect(stated.length, `${entry} in ${pkg?.manifest.name}`).toBeGreaterThanOrEqual(2);
      for (const [index, size] of stated.entries()) {
        const found = [bytes, gzipBytes, wholeGzipBytes][index] ?? 0;
        expect(Math.abs(found - size) / found, `${entry}: ${found} bytes`).toBeLessThan(0.1);
      }
    }
  });
});

describe('examples', async () => {
  const files = (await readdir(join(ROOT, 'examples'))).filter((name) => name.endsWith('.mjs'));

  it('are all checked', () => {
    expect(files.map((name) => name.replace('.mjs', '')).sort()).toEqual(
      [...Object.keys(EXAMPLE_CHECKS), ...EXAMPLES_OF_SERVICE].sort(),
    );
  });

  it.each(files)('%s has fewer than 20 lines of code', async (name) => {
    const lines = (await readFile(join(ROOT, 'examples', name), 'utf8')).split('\n');
    expect(lines.filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length).toBeLessThan(20);
  });
});
