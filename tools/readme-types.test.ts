import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { publishablePackages, ROOT } from './packages/publishable.ts';

/** The programs of the READMEs compile in the projects that users have, with the declarations as they are published. */

/** The settings of Vite's template for TypeScript, which knows neither Node nor the newest libraries. */
const BROWSER = {
  target: 'es2023',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  types: [],
};
const NODE = { target: 'es2023', module: 'nodenext', lib: ['es2023'], types: ['node'] };
const STRICT = {
  moduleDetection: 'force',
  verbatimModuleSyntax: true,
  noEmit: true,
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  erasableSyntaxOnly: true,
  noFallthroughCasesInSwitch: true,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-readme-'));
  for (const { folder: source, manifest } of publishablePackages()) {
    const link = join(folder, 'node_modules', manifest.name);
    await mkdir(join(link, '..'), { recursive: true });
    await symlink(source, link);
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await symlink(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  for (const name of ['express', '@types/express', 'prom-client']) {
    const installed = join(ROOT, 'packages/observability/node_modules', name);
    await symlink(installed, join(folder, 'node_modules', name));
  }
});
afterAll(() => rm(folder, { recursive: true }));

/** The programs of a README: blocks of JavaScript and TypeScript. */
async function programsOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8');
  return Array.from(
    text.matchAll(/^```(?:js|ts|javascript|typescript)\n([\s\S]*?)^```$/gm),
    ([, code = '']) => code,
  );
}

const needsNode = (code: string): boolean =>
  /from '(?:node:|@svc\/[\w-]+\/node'|@svc\/tabular\/write|@svc\/observability|svc-pkg)|process\./.test(code);

async function compile(
  kind: string,
  settings: object,
  programs: Readonly<Record<string, string>>,
): Promise<string> {
  const project = join(folder, kind);
  await mkdir(project);
  for (const [name, code] of Object.entries(programs)) await writeFile(join(project, `${name}.ts`), code);
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...STRICT, ...settings }, include: ['.'] }),
  );
  return await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project], {
    cwd: folder,
  }).then(
    () => '',
    ({ stdout }) => String(stdout),
  );
}

async function programs(isOfKind: (code: string) => boolean): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { folder: source } of publishablePackages()) {
    const name = basename(source);
    for (const [index, code] of (await programsOf(join(source, 'README.md'))).entries()) {
      if (isOfKind(code)) found[`${name}-${index + 1}`] = code;
    }
  }
  return found;
}

it.each([true, false])('compiles the programs for browsers, skipLibCheck: %s', async (skipLibCheck) => {
  const found = await programs((code) => !needsNode(code));
  expect(Object.keys(found).length).toBeGreaterThan(10);
  const output = await compile(`browser-${skipLibCheck}`, { ...BROWSER, skipLibCheck }, found);
  expect(output).toBe('');
});

it('compiles the programs for Node', async () => {
  const found = await programs(needsNode);
  expect(Object.keys(found).length).toBeGreaterThan(3);
  expect(await compile('node', { ...NODE, skipLibCheck: false }, found)).toBe('');
});

it('ships the source maps that shipped files name', async () => {
  for (const { folder: source } of publishablePackages()) {
    const { files } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
    if (!files.includes('!dist/**/*.map')) continue;
    const naming = await promisify(execFile)('grep', [
      '-rlE',
      'sourceMappingURL',
      '--include=*.js',
      join(source, 'dist'),
    ]).catch(({ stdout }) => ({ stdout: String(stdout) }));
    expect(naming.stdout).toBe('');
  }
});

it('declares no types that TypeScript knows only from 5.7 on', async () => {
  const { stdout } = await promisify(execFile)('grep', [
    ...['-rlE', '(Uint8|Int32|Float64)Array<', '--include=*.d.ts'],
    ...publishablePackages().map(({ folder: source }) => join(source, 'dist')),
  ]).catch(({ stdout }) => ({ stdout: String(stdout) }));
  expect(stdout).toBe('');
});
