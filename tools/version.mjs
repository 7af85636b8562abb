// Makes the next version from the pending changesets: versions and changelogs, with changesets, the generator version
// that @svc/pkg-format writes into packages, and the example package.
//
//   npm run version:packages
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGE = join(root, 'packages/pkg-format');
const MANIFEST = join(PACKAGE, 'src/package/manifest.ts');

function run(program, args, options = {}) {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`);
  return stdout;
}
const tool = (name) => join(root, 'node_modules/.bin', name);

process.stdout.write(run(tool('changeset'), ['version']));

const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
const source = readFileSync(MANIFEST, 'utf8');
const stamped = source.replace(/(GENERATOR_VERSION = ')[^']+/, `$1${version}`);
if (!stamped.includes(`GENERATOR_VERSION = '${version}'`))
  throw new Error(`${MANIFEST} has no GENERATOR_VERSION`);
writeFileSync(MANIFEST, stamped);

run(tool('tsc'), ['-b', PACKAGE]);
const example = run(process.execPath, ['write-a-package.ts'], { cwd: join(root, 'examples') });
writeFileSync(join(root, 'examples/capitals.pkg.zip'), example);
console.log(`everything is at ${version} now`);
