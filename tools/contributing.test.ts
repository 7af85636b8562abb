import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CheckerDeclaration } from '../packages/service/src/evaluation/checkers/checker.ts';
import { CHECKERS } from '../packages/service/src/evaluation/checkers/checkers.ts';
import { IS_LONG } from './vitest/long.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-contributing-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe('the first commands of CONTRIBUTING', () => {
  const [, block = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(PAGE) ?? [];
  const [install = '', ...others] = block.split('\n');

  it('install with the pnpm of this repository', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devEngines
      .packageManager;
    expect(install).toBe(`npx --yes pnpm@${version} install --frozen-lockfile`);
  });

  it.runIf(IS_LONG)(
    'work where PATH has nothing but Node, npm and a shell',
    { timeout: 600_000 },
    async () => {
      const folder = await temporaryFolder();
      const { stdout } = await promisify(execFile)('which', [
        'npm',
        'npx',
        'sh',
        'dirname',
        'sed',
        'uname',
        'readlink',
      ]);
      for (const path of [process.execPath, ...stdout.trim().split('\n')])
        await symlink(path, join(folder, path.slice(path.lastIndexOf('/') + 1)));
      const { stderr } = await promisify(execFile)('/bin/sh', ['-euc', others.join('\n')], {
        cwd: ROOT,
        env: { PATH: folder, HOME: process.env['HOME'] },
      });
      expect(stderr).not.toMatch(/not found|cannot find/i);
    },
  );
});

it.runIf(IS_LONG)('the programs of examples/README.md run on this Node', async () => {
  const page = readFileSync(join(ROOT, 'examples/README.md'), 'utf8');
  const commands = [...page.matchAll(/^node (\S+)(.*)$/gm)];
  expect(commands).toHaveLength(4);
  const folder = await temporaryFolder();
  for (const name of ['capitals.pkg.zip', 'questions.csv'])
    await copyFile(join(ROOT, 'examples', name), join(folder, name));
  for (const [, name = '', args = ''] of commands) {
    const argv = [join(ROOT, 'examples', name), ...args.split(' ').filter((arg) => arg !== '')];
    await promisify(execFile)(process.execPath, argv, { cwd: folder });
  }
  const programs = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.mjs'));
  expect(programs.filter((name) => !page.includes(`| \`${name}`))).toEqual([]);
});

it('the checker of CONTRIBUTING is one', async () => {
  const [, indented = ''] = /^ {3}```ts\n([\s\S]*?)^ {3}```$/m.exec(PAGE) ?? [];
  const checkers = pathToFileURL(join(ROOT, 'packages/service/src/evaluation/checkers/')).href;
  const code = indented.replaceAll(/^ {3}/gm, '').replaceAll("'./", `'${fileURLToPath(checkers)}`);
  const file = join(await temporaryFolder(), 'ends-with.ts');
  await writeFile(file, code);
  const { ENDS_WITH } = (await import(file)) as { readonly ENDS_WITH: CheckerDeclaration };
  expect(Object.keys(ENDS_WITH)).toEqual(Object.keys(CHECKERS.get('includes') ?? {}));
  const passed = (output: string): unknown =>
    ENDS_WITH.check({ output, item: { inputs: {}, answer: 'Paris' }, options: {} }).passed;
  expect(['It is Paris\n', 'Paris, I think'].map(passed)).toEqual([true, false]);
});

it('each package has its tests as `npm test`', () => {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`),
  );
  const lacking = folders.filter((folder) => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    return !/^vitest run --root \S+ --project \S+ \S+$/.test(scripts.test);
  });
  expect(lacking, 'add the script `test` to their package.json').toEqual([]);
});

describe('the walks of CONTRIBUTING', () => {
  const walks = PAGE.slice(PAGE.indexOf('## Three walks'), PAGE.indexOf('## Code'))
    .split(/^(?=\*\*)/m)
    .slice(1)
    .map((text) => [...text.matchAll(/^\d+\. \[`[^`]+`\]\(([^)]+)\)/gm)].map(([, file = '']) => file));
  const starts = readdirSync(join(ROOT, 'apps'))
    .map((name) => `apps/${name}/src/main.ts`)
    .filter((file) => existsSync(join(ROOT, file)));

  it('are three', () => expect(walks.map(({ length }) => length)).toEqual([9, 10, 7]));

  it.each(walks)('go on from file to file: %s, …', (...files) => {
    for (const [index, file] of files.entries()) {
      expect(existsSync(join(ROOT, file)), file).toBe(true);
      if (index === 0) continue;
      const near = filesNear([...files.slice(0, index), ...starts]);
      expect(near.has(file), `${file} is imported on the way from the files before it`).toBe(true);
    }
  });
});

/** The files that are imported from some files, in at most five steps. */
function filesNear(files: readonly string[]): Set<string> {
  const found = new Set(files);
  let last: readonly string[] = files;
  for (let step = 0; step < 5; step += 1) {
    last = [...new Set(last.flatMap(importsOf))].filter((file) => !found.has(file));
    for (const file of last) found.add(file);
  }
  return found;
}

/** The source files of this repository that one imports or exports from. */
function importsOf(file: string): readonly string[] {
  const known = IMPORTS.get(file) ?? readImports(file);
  IMPORTS.set(file, known);
  return known;
}
const IMPORTS = new Map<string, readonly string[]>();

function readImports(file: string): readonly string[] {
  if (!existsSync(join(ROOT, file))) return [];
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import) ?\(?'([^']+)'/g)].flatMap(([, specifier = '']) => {
    if (specifier.startsWith('.'))
      return [relative(ROOT, join(ROOT, dirname(file), specifier.replace(/\.js$/, '.ts')))];
    const [, name, part = 'index'] = /^@svc\/([a-z0-9-]+)(?:\/(.+))?$/.exec(specifier) ?? [];
    if (name === undefined) return [];
    const folders = ['packages', 'apps'].map((parent) => `${parent}/${name}/src`);
    return folders.flatMap((folder) => [`${folder}/${part}.ts`, `${folder}/${part}/index.ts`]);
  });
}
