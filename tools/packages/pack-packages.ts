import { existsSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { type Manifest, type PublishablePackage, publishablePackages, ROOT } from './publishable.ts';
import { runProgram } from './run-program.ts';

/** A package as it would be published. */
export interface PackedPackage extends PublishablePackage {
  /** Path of the tarball. */
  readonly tarball: string;
  /** The manifest inside it. */
  readonly packed: Manifest;
  /** Paths inside it. */
  readonly files: readonly string[];
  /** Total size of the unpacked files. */
  readonly unpackedBytes: number;
}

const PNPM = ['--yes', 'pnpm@12.21.0'];

/** Packs every publishable package from its build into `destination`. */
export async function packPackages(destination: string): Promise<PackedPackage[]> {
  const packages = publishablePackages();
  for (const { folder } of packages) removeStaleBuild(folder);
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`);
  const out = join(destination, '%s.tgz');
  await runProgram('npx', [...PNPM, '--recursive', ...filters, 'pack', '--out', out], { cwd: ROOT });
  return Promise.all(
    packages.map(async ({ folder, manifest }) => {
      const tarball = join(destination, `${manifest.name.replace('@', '').replace('/', '-')}.tgz`);
      const [{ text: listing }, { text: packed }] = await Promise.all([
        runProgram('tar', ['-tvzf', tarball]),
        runProgram('tar', ['-xzOf', tarball, 'package/package.json']),
      ]);
      // Mode, owner, size, date, time, name
      const entries = listing
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/));
      const files = entries.map((entry) => entry[5] ?? '');
      const unpackedBytes = entries.reduce((sum, entry) => sum + Number(entry[2]), 0);
      return { folder, manifest, tarball, packed: JSON.parse(packed), files, unpackedBytes };
    }),
  );
}

/** Removes output of an earlier build whose sources were deleted: it must not be published. */
function removeStaleBuild(folder: string): void {
  for (const entry of readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true })) {
    const name = /^(.+?)\.(?:d\.ts|js|js\.map)$/.exec(entry.name)?.[1];
    if (!entry.isFile() || name === undefined) continue;
    const source = join(entry.parentPath.replace(join(folder, 'dist'), join(folder, 'src')), `${name}.ts`);
    if (!existsSync(source)) rmSync(join(entry.parentPath, entry.name));
  }
}

/** The problems of a tarball according to publint, "are the types wrong" and our rules. */
export async function problemsOf(pkg: PackedPackage): Promise<string[]> {
  const bytes = await readFile(pkg.tarball);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages, pkg: linted } = await publint({ pack: { tarball }, strict: true });
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, linted) ?? message.code}`),
    ...(await typeProblems(pkg.tarball)),
    ...ownProblems(pkg),
  ];
}

/**
 * Node 20.19 and newer load ES modules by `require` too, and these packages need it: `cjs-resolves-to-esm` does
 * not apply, and a test requires each of them. They do not support the TypeScript resolution from before `exports`.
 */
async function typeProblems(tarball: string): Promise<string[]> {
  const attw = join(ROOT, 'node_modules/.bin/attw');
  const rules = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'];
  return runProgram(attw, [tarball, ...rules, '--format', 'ascii', '--no-color']).then(
    () => [],
    (error: Error) => [`are the types wrong: ${error.message}`],
  );
}

function ownProblems({ manifest, packed, files }: PackedPackage): string[] {
  const problems: string[] = [];
  for (const required of ['LICENSE', 'README.md', 'CHANGELOG.md', 'dist/index.js', 'dist/index.d.ts']) {
    if (!files.includes(`package/${required}`)) problems.push(`${required} is missing`);
  }
  const unwanted = files.filter((file) => /\.test\.|tsbuildinfo|node_modules|\/test\//.test(file));
  if (unwanted.length > 0) problems.push(`should not be packed: ${unwanted.join(', ')}`);
  const published = new Set(publishablePackages().map((other) => other.manifest.name));
  for (const [name, range] of Object.entries(packed.dependencies ?? {})) {
    if (!/^[\^~]?\d/.test(range)) problems.push(`the range of ${name} is not a version: ${range}`);
    if (name.startsWith('@svc/') && !published.has(name)) problems.push(`${name} is private`);
  }
  if (packed.version !== manifest.version) problems.push(`is packed as ${packed.version}`);
  return problems;
}
