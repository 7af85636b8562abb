// Makes the next versions from the pending changesets: of each package whose users see a change, and of the service.
//
//   npm run version:packages
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const changeset = join(root, 'node_modules/.bin/changeset');
const { status } = spawnSync(changeset, ['version'], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;

// The chart installs the images of the service's version.
const { version } = JSON.parse(readFileSync(join(root, 'apps/api/package.json'), 'utf8'));
const chart = join(root, 'deploy/helm/svc/Chart.yaml');
writeFileSync(
  chart,
  readFileSync(chart, 'utf8').replaceAll(/^((?:appV|v)ersion: "?)[^"\n]+/gm, `$1${version}`),
);

// These name their versions, to the hub and in packages, also in browsers, which have no package.json.
for (const name of ['hub-client', 'pkg-format']) {
  const folder = join(root, 'packages', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = join(folder, 'src/version.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/'.*'/, `'${version}'`));
}
