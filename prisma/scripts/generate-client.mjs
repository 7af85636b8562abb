// Generates the Prisma client into src/generated.
//
// The client needs no engine binary, but Prisma's command line looks for its schema engine at every start and
// would download it. It takes any existing file named by PRISMA_SCHEMA_ENGINE_BINARY instead and, for
// `generate`, never runs it: so a machine without a network can build.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const manifestPath = createRequire(import.meta.url).resolve('prisma/package.json');
const manifest = createRequire(import.meta.url)(manifestPath);
const cli = join(dirname(manifestPath), manifest.bin.prisma ?? manifest.bin);

const { status, stdout, stderr, error } = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
  cwd: packageFolder,
  encoding: 'utf8',
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ?? process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
});
if (error !== undefined || status !== 0) {
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n`);
  process.exitCode = 1;
}
