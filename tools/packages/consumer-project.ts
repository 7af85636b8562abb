import { copyFile, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import type { PackedPackage } from './pack-packages.ts';
import { ROOT } from './publishable.ts';
import { type ReadmeExample, readmeExamples } from './readme-examples.ts';
import { runProgram } from './run-program.ts';

/** The project of a user of the packages: outside of the workspace, with only the tarballs. */
export interface ConsumerProject {
  readonly folder: string;
  /** Folders of the programs: those of `examples/` and of the READMEs. */
  readonly programs: { readonly '.ts': string; readonly '.js': string; readonly '.cjs': string };
  readonly readmePrograms: readonly ReadmeExample[];
}

/** What the programs of the READMEs need besides the packages. */
const FRAMEWORKS: Readonly<Record<string, string>> = {
  '@types/express': '^5.0.6',
  express: '^5.3.0',
  'prom-client': '^15.1.3',
};

/** Versions of undici whose dispatchers a user may have. */
const UNDICI: Readonly<Record<string, string>> = {
  'undici-6': 'npm:undici@^6.25.0',
  'undici-8': 'npm:undici@^8.12.4',
};

/** Sends requests through dispatchers of other versions of undici than that of the package. */
const DISPATCHERS: ReadmeExample = {
  name: 'dispatchers',
  code: `import { createHubClient, type FetchFunction } from '@svc/hub-client';
import { Agent as Agent6, fetch as fetch6 } from 'undici-6';
import { Agent as Agent8, fetch as fetch8 } from 'undici-8';

const agent6 = new Agent6();
const agent8 = new Agent8();
const transports: FetchFunction[] = [
  (url, init) => fetch6(url, { ...init, dispatcher: agent6 }),
  (url, init) => fetch8(url, { ...init, dispatcher: agent8 }),
];
for (const fetch of transports) {
  const hub = createHubClient({ endpoint: process.env['HUB_ENDPOINT'], fetch });
  console.log((await hub.openDataset({ path: 'openai/gsm8k' })).id);
}
await Promise.all([agent6.close(), agent8.close()]);
`,
  output: 'openai/gsm8k\nopenai/gsm8k\n',
  // of undici 8
  oldestNode: '22.19.0',
};

/** How the packages are installed in the project. */
export type InstallMethod =
  /** By npm, with what they depend on from the registry. */
  | 'npm'
  /** Unpacks them and links their dependencies from the workspace: works without a network. */
  | 'links';

/** Makes the project in an empty folder. */
export async function createConsumerProject(
  folder: string,
  packages: readonly PackedPackage[],
  method: InstallMethod,
): Promise<ConsumerProject> {
  await writeJson(join(folder, 'package.json'), {
    name: 'consumer',
    private: true,
    type: 'module',
    dependencies: Object.fromEntries(packages.map((pkg) => [pkg.manifest.name, `file:${pkg.tarball}`])),
    // The packages also get each other from the tarballs.
    overrides: Object.fromEntries(packages.map(({ manifest }) => [manifest.name, `$${manifest.name}`])),
    devDependencies: { '@types/node': '^24.0.0', ...FRAMEWORKS, ...UNDICI },
  });
  if (method === 'npm') {
    const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    await runProgram('npm', ['install', ...quiet], { cwd: folder });
  } else {
    await linkPackages(folder, packages);
  }
  const programs = { '.ts': join(folder, 'ts'), '.js': join(folder, 'js'), '.cjs': join(folder, 'cjs') };
  for (const path of Object.values(programs)) await mkdir(path);
  for (const name of await readdir(join(ROOT, 'examples'))) {
    if (name.endsWith('.mjs'))
      await copyFile(join(ROOT, 'examples', name), join(programs['.ts'], name.replace('.mjs', '.ts')));
  }
  const readmePrograms = [...packages.flatMap((pkg) => readmeExamples(pkg.folder)), DISPATCHERS];
  for (const { name, code } of readmePrograms) await writeFile(join(programs['.ts'], `${name}.ts`), code);
  for (const name of await readdir(programs['.ts'])) {
    const code = await readFile(join(programs['.ts'], name), 'utf8');
    await writeFile(join(programs['.js'], name.replace(/\.ts$/, '.js')), stripTypeScriptTypes(code));
    await writeFile(join(programs['.cjs'], name.replace(/\.ts$/, '.cjs')), toCommonJs(code));
  }
  return { folder, programs, readmePrograms };
}

/** A program as one of the older module system: what it imports it requires, and it waits inside a function. */
function toCommonJs(program: string): string {
  const required = stripTypeScriptTypes(program).replaceAll(
    /^import (?:(\w+)|\{([^}]*)\}) from ('[^']+');$/gm,
    (_statement, name: string | undefined, names: string, from: string) => {
      const bound = name ?? `{ ${names.replaceAll(/(\w+) as (\w+)/g, '$1: $2')} }`;
      return `const ${bound} = require(${from});`;
    },
  );
  if (/^import /m.test(required)) throw new Error(`Cannot convert the imports of:\n${required}`);
  return `(async () => {\n${required}\n})();\n`;
}

async function linkPackages(folder: string, packages: readonly PackedPackage[]): Promise<void> {
  const modules = join(folder, 'node_modules');
  await link(join(ROOT, 'node_modules/@types/node'), join(modules, '@types/node'));
  for (const name of Object.keys(FRAMEWORKS)) {
    await link(join(ROOT, 'packages/observability/node_modules', name), join(modules, name));
  }
  for (const name of Object.keys(UNDICI)) {
    await link(join(ROOT, 'packages/hub-client/node_modules', name), join(modules, name));
  }
  for (const pkg of packages) {
    const own = join(modules, pkg.manifest.name);
    await mkdir(own, { recursive: true });
    await runProgram('tar', ['-xzf', pkg.tarball, '--strip-components=1', '-C', own]);
    for (const name of Object.keys(pkg.packed.dependencies ?? {})) {
      if (!name.startsWith('@svc/'))
        await link(join(pkg.folder, 'node_modules', name), join(own, 'node_modules', name));
    }
  }
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(await realpath(target), path);
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

const STRICT = {
  noEmit: true,
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  // Also checks the declarations of the packages.
  skipLibCheck: false,
};

/** Checks the types of every program and of all declarations, as programs of Node see them. */
export async function checkTypes({ folder }: ConsumerProject): Promise<void> {
  await writeJson(join(folder, 'tsconfig.json'), {
    compilerOptions: {
      ...STRICT,
      module: 'nodenext',
      lib: ['es2023'],
      types: ['node'],
      allowImportingTsExtensions: true,
    },
    include: ['ts'],
  });
  await runProgram(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder });
}

/** Checks the types of the page, as a bundler sees them: without Node. */
export async function checkPageTypes({ folder }: ConsumerProject): Promise<void> {
  await writeJson(join(folder, 'page/tsconfig.json'), {
    compilerOptions: {
      ...STRICT,
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable'],
      types: [],
    },
    include: ['.'],
  });
  await runProgram(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: join(folder, 'page') });
}

/** Loads every entry by `require`, as programs of the older module system do. */
export async function requireEntries(
  { folder }: ConsumerProject,
  packages: readonly PackedPackage[],
  node: string,
): Promise<void> {
  const entries = packages.flatMap(({ manifest, packed }) =>
    Object.keys(packed.exports).map((entry) => manifest.name + entry.slice(1)),
  );
  const code = `for (const name of ${JSON.stringify(entries)}) {
    if (Object.keys(require(name)).length === 0) throw new Error(name + ' exports nothing');
  }`;
  const file = join(folder, 'require-entries.cjs');
  await writeFile(file, code);
  await runProgram(node, ['--disable-warning=ExperimentalWarning', file], { cwd: folder });
}
