// Deploys one app into a folder, from which it runs with plain Node:
//
//   node tools/deploy.mjs api|worker|cli|standalone <folder> [x64|arm64]
//
// `standalone` has the embedded PostgreSQL with it, for this processor unless another is named. The folder must not exist. Build everything first. Versions are those of pnpm-lock.yaml.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const PNPM = 'pnpm@12.21.0';
const APPS = ['api', 'worker', 'cli', 'standalone'];

const [app, target, cpu = process.arch] = process.argv.slice(2);
if (!APPS.includes(app) || target === undefined || !['x64', 'arm64'].includes(cpu)) {
  console.error(`usage: node tools/deploy.mjs ${APPS.join('|')} <folder> [x64|arm64]`);
  process.exit(2);
}
const folder = resolve(target);
if (existsSync(folder)) {
  console.error(`${folder} exists already`);
  process.exit(2);
}
if (!existsSync(join(root, 'apps', app, 'dist/main.js'))) {
  console.error(`apps/${app} is not built: run npm test, or pnpm run build`);
  process.exit(1);
}

const { status, error } = spawnSync(
  process.platform === 'win32' ? 'npx.cmd' : 'npx',
  [
    ...['--yes', PNPM, '--filter', `@svc/${app}`],
    // copies of the workspace's packages instead of links to them, here only
    '--config.inject-workspace-packages=true',
    ...['deploy', '--prod', '--prefer-offline'],
    app === 'standalone' ? `--cpu=${cpu}` : '--no-optional',
    folder,
  ],
  { cwd: root, stdio: ['ignore', process.stderr, process.stderr] },
);
if (status !== 0) {
  console.error(error?.message ?? `pnpm ended with ${status}`);
  process.exit(1);
}

// The console is built once for all: its files are served as they are.
if (app === 'api' || app === 'standalone')
  cpSync(join(root, 'apps/web/dist'), join(folder, 'console'), { recursive: true });
