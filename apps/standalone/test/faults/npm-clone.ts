import { chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * Makes a folder in which `npm start` is what it is in a clone that is installed and built: npm, the shell between, and
 * `tools/run.mjs` are the real ones, the service is the built one. Only the package manager is none, since there is
 * nothing to install.
 */
export async function makeNpmClone(folder: string): Promise<void> {
  for (const name of [
    'tools',
    'packages',
    'prisma',
    'apps/standalone',
    'node_modules/.bin',
    'node_modules/node/bin',
  ]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  await copyFile(join(ROOT, 'tools/run.mjs'), join(folder, 'tools/run.mjs'));
  await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) await writeFile(join(folder, name), '');
  await symlink(join(ROOT, 'apps/standalone/dist'), join(folder, 'apps/standalone/dist'));
  await symlink(process.execPath, join(folder, 'node_modules/node/bin/node'));
  const npx = join(folder, 'node_modules/.bin/npx');
  await writeFile(npx, '#!/bin/sh\nexit 0\n');
  await chmod(npx, 0o755);
}
