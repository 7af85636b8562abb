/**
 * Checks the published packages as their users get them, over the network: packs them, lints the tarballs, installs
 * them with npm into an empty project, and runs there every program of the READMEs and of `examples/`, as TypeScript and
 * as JavaScript, and every command of the command line: `node tools/check-packages.ts [path of the Node that runs them]`.
 * Exits 1 if anything fails. The workflow of the night does it on each supported version of Node.
 *
 * `packages.long.test.ts` does the same without a network, and with fewer forms of the programs.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runService } from '../apps/standalone/test/faults/run-service.ts';
import { checkTypes, createConsumerProject } from './packages/consumer-project.ts';
import { convertLegacyArchive } from './packages/convert-legacy-archive.ts';
import { runEveryCommand } from './packages/every-command.ts';
import { runEveryProgram, versionOf } from './packages/every-program.ts';
import { startExampleHub } from './packages/example-checks.ts';
import { packPackages, problemsOf } from './packages/pack-packages.ts';

const node = process.argv[2] ?? process.execPath;
const folder = await mkdtemp(join(tmpdir(), 'svc-packages-'));
try {
  const packages = await packPackages(folder);
  for (const pkg of packages) {
    const problems = await problemsOf(pkg);
    if (problems.length > 0) throw new Error(`${pkg.manifest.name}:\n${problems.join('\n')}`);
    console.log(`${pkg.manifest.name} ${pkg.packed.version}: ${pkg.files.length} files, no problem`);
  }

  const projectFolder = join(folder, 'project');
  await mkdir(projectFolder);
  const project = await createConsumerProject(projectFolder, packages, 'npm');
  await checkTypes(project);
  console.log('installed by npm; all programs and declarations have the right types');

  await using cleanUp = new AsyncDisposableStack();
  const hub = await startExampleHub();
  cleanUp.defer(() => hub.close());
  const apiKey = 'a-key-of-an-admin';
  // The built service, with its own database, on the Node that runs this.
  const service = await runService({
    app: 'standalone',
    dataDir: join(folder, 'service'),
    env: { SVC_API_KEYS: `admin:${apiKey}`, HUB_ENDPOINT: hub.endpoint },
  });
  cleanUp.defer(async () => void (await service.end('SIGTERM')));
  const env = { HUB_ENDPOINT: hub.endpoint, SVC_API_URL: service.url, SVC_API_KEY: apiKey };
  const ended = [
    ...(await runEveryProgram(project, packages, node, env)),
    ...(await runEveryCommand(project, node, { url: service.url, apiKey, hubEndpoint: hub.endpoint })),
  ];
  await convertLegacyArchive(project, node);
  const failures = ended.flatMap(([name, failure]) => (failure === null ? [] : [`${name}: ${failure}`]));
  if (failures.length > 0) throw new Error(failures.join('\n'));
  console.log(`${ended.length} programs and commands work on Node ${await versionOf(node)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
