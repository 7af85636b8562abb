import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { IS_LONG } from './vitest/long.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Runs `npm start` as far as its arguments. */
function start(...args: string[]): readonly [code: number | null, stdout: string, stderr: string] {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'tools/run.mjs'), 'start', ...args],
    {
      encoding: 'utf8',
    },
  );
  return [status, stdout, stderr];
}

it('npm start says what it takes', () => {
  expect(start('--help')).toEqual([0, expect.stringMatching(/^usage: npm start.*--port.*--data/s), '']);
});

it.each([
  [['--prot', '9000'], 'unknown argument "--prot"'],
  [['9000'], 'unknown argument "9000"'],
  [['--port'], '--port needs a value'],
  [['--data='], '--data needs a value'],
])('npm start refuses %j before it installs anything', (args, reason) => {
  expect(start(...args)).toEqual([2, '', expect.stringContaining(`npm start: ${reason}\n\nusage:`)]);
});

/** What a lockfile of pnpm has of a package, and of a folder of the workspace. */
interface Installed {
  readonly dependencies?: Readonly<Record<string, string | { readonly version: string }>>;
  readonly optionalDependencies?: Installed['dependencies'];
}

/** The packages that `pnpm install --prod` of some folders brings, with their versions, for any platform. */
function packagesOf(...waiting: string[]): readonly string[] {
  const lock: Readonly<Record<'importers' | 'snapshots', Readonly<Record<string, Installed>>>> = parse(
    readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8'),
  );
  const found = new Set(waiting);
  for (const one of found) {
    const { dependencies, optionalDependencies } = lock.importers[one] ?? lock.snapshots[one] ?? {};
    for (const [name, value] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      const version = typeof value === 'string' ? value : value.version;
      found.add(version.startsWith('link:') ? join(one, version.slice(5)) : `${name}@${version}`);
    }
  }
  return [...found].filter((one) => lock.importers[one] === undefined);
}

it('npm start installs what the service consists of, and what bundles it', () => {
  const packages = packagesOf('.', 'apps/standalone', 'apps/web', 'tools/node');
  // of which a machine takes those for its platform, some 400
  expect(packages.length).toBeLessThan(450);
  const tools =
    /^(?:typescript|turbo|vitest|playwright-core|pnpm|prisma|esbuild|@(?:biomejs|duckdb|prisma\/client))\b/;
  expect(packages.filter((name) => tools.test(name))).toEqual([]);
});

it('npm start builds what the store reads, in a clone without another build', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bundle-'));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rm(folder, { recursive: true, maxRetries: 10 }));
  const sources = ['apps', 'packages', 'prisma', 'tools', 'package.json', 'tsconfig.base.json'];
  const archive = execFileSync('git', ['archive', 'HEAD', ...sources], { cwd: ROOT, maxBuffer: 1e9 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  for (const parent of ['apps', 'packages']) {
    for (const name of readdirSync(join(folder, parent))) {
      const path = join(parent, name, 'node_modules');
      if (existsSync(join(ROOT, path))) symlinkSync(join(ROOT, path), join(folder, path));
    }
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(join(ROOT, 'node_modules/node/bin/node'), ['tools/bundle-service.mjs', 'standalone'], {
    cwd: folder,
  });
  const migrations = readdirSync(join(ROOT, 'prisma/migrations'));
  expect(readdirSync(join(folder, 'packages/service/dist/migrations'))).toEqual(migrations);
});

it.runIf(IS_LONG)('npm start in a clone takes what the README says', { timeout: 300_000 }, async () => {
  const [, megabytes] =
    /^The first start installs (\d+) MB/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'svc-clone-'));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rm(folder, { recursive: true, maxRetries: 10 }));
  execFileSync('git', ['clone', '--quiet', ROOT, folder]);
  // without the Node and the tools of this clone
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes('node_modules'));
  const npm = spawn('npm', ['start', '--', '--port=0', '--data=data'], {
    cwd: folder,
    // and without what pnpm keeps of earlier installations
    env: {
      PATH: path.join(delimiter),
      HOME: process.env['HOME'],
      PNPM_CONFIG_STORE_DIR: join(folder, 'store'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(npm, 'exit');
  cleanUp.defer(() => ended.then(() => undefined));
  cleanUp.defer(() => void npm.kill('SIGTERM'));
  let said = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await expect.poll(() => said, { timeout: 240_000 }).toMatch(/console: +http:/);
  const [, url = ''] = /console: +(http:\S+)/.exec(said) ?? [];
  expect(await (await fetch(`${url}/console`)).text()).toContain('id="root"');
  const [size] = execFileSync('du', ['-sm', join(folder, 'node_modules')], { encoding: 'utf8' }).split('\t');
  expect(Number(size)).toBeLessThanOrEqual(Number(megabytes));
});
