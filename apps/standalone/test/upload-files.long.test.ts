import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { connect, SERVICE } from '../src/embedded-postgres/connection.ts';
import { layoutOf } from '../src/embedded-postgres/layout.ts';
import { readPostmasterFile } from '../src/embedded-postgres/ownership.ts';
import { INSPECT, inspect } from './faults/inspect.ts';
import { runService } from './faults/run-service.ts';
import { makeDataFolder } from './make-data-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Files of which a function runs between an upload and its response, beyond those of `GET /healthz`: a step that needs
 * more of them should take the place of another one. The tables of a new version are made afterwards, by whoever the
 * database tells of it; here it tells nobody.
 */
const MAX_FILES = 50;

it('an upload of seven items runs few files, and those that ARCHITECTURE.md lists', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const dataDir = await makeDataFolder('svc-files-');
  cleanUp.defer(() => rm(dataDir, { recursive: true, force: true }));
  const service = await runService({ app: 'standalone', dataDir, nodeArguments: INSPECT });
  // Killed, it would leave its PostgreSQL to write into the folder for a moment.
  cleanUp.defer(async () => void (await service.end('SIGTERM')));
  const archive = await readFile(join(root, 'examples/capitals.pkg.zip'));
  const upload = async (): Promise<void> => {
    const body = new FormData();
    body.append('file', new Blob([archive]), 'capitals.pkg.zip');
    const response = await fetch(`${service.url}/datasets/upload`, { method: 'POST', body });
    expect(await response.json()).toMatchObject({ item_count: 7 });
  };
  const probe = async (): Promise<unknown> => (await fetch(`${service.url}/healthz`)).text();
  await silenceVersions(dataDir);
  // The first ones load and prepare what later ones use.
  await upload();
  await probe();
  using inspector = await inspect(service);
  await inspector.call('Profiler.enable');
  await inspector.call('Profiler.startPreciseCoverage', { callCount: true });
  const filesOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    await inspector.call('Profiler.takePreciseCoverage');
    await work();
    const { result } = await inspector.call('Profiler.takePreciseCoverage');
    return [...new Set((await Promise.all((result as Script[]).map(filesRun))).flat())];
  };
  // Other work of the process runs now and then: what each one runs is what counts.
  const filesOfEach = async (work: () => Promise<unknown>): Promise<string[]> => {
    const each = [await filesOf(work), await filesOf(work), await filesOf(work)];
    return each.reduce((common, found) => common.filter((file) => found.includes(file)));
  };
  const probed = await filesOfEach(probe);
  const files = await filesOfEach(upload);

  expect(files).toEqual(expect.arrayContaining(await listedFiles()));
  const beyond = files.filter((file) => !probed.includes(file));
  expect(beyond.length, beyond.join('\n')).toBeLessThanOrEqual(MAX_FILES);
});

/** Has the database of a service tell nobody of new versions, whose tables are otherwise made in the background. */
async function silenceVersions(dataDir: string): Promise<void> {
  const layout = layoutOf(dataDir);
  const { endpoint } = (await readPostmasterFile(layout)) ?? {};
  if (endpoint == null) throw new Error('the database is not running');
  const password = (await readFile(layout.servicePassword, 'utf8')).trim();
  const client = await connect(endpoint, { user: SERVICE, password, database: SERVICE });
  await client.query('ALTER TABLE versions DISABLE TRIGGER notify_version');
  await client.end();
}

interface Script {
  readonly url: string;
  readonly functions: ReadonlyArray<{
    readonly ranges: ReadonlyArray<{ readonly startOffset: number; readonly count: number }>;
  }>;
}

/** The files of which a function has run. The service is bundled; each file follows a comment with its path. */
async function filesRun({ url, functions }: Script): Promise<string[]> {
  if (!url.includes('/dist/service/')) return [];
  const regions = [...(await readFile(fileURLToPath(url), 'utf8')).matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)];
  return functions.flatMap(({ ranges: [whole] }) => {
    if (whole === undefined || whole.count === 0) return [];
    return sourceOf(regions.findLast(({ index }) => index < whole.startOffset)?.[1] ?? '');
  });
}

/** `service/store/import/draft.ts` of `packages/service/src/store/import/draft.ts`; none for other code. */
function sourceOf(path: string): string[] {
  const found = /(?:^|\/)([a-z\d-]+)\/src\/(.+\.ts)$/.exec(path);
  if (path.includes('node_modules') || found === null) return [];
  return [`${found[1]}/${found[2]}`];
}

/** The files of the table under "A package of a few items". */
async function listedFiles(): Promise<string[]> {
  const page = await readFile(join(root, 'ARCHITECTURE.md'), 'utf8');
  const [, section = ''] = page.split('A package of a few items passes');
  const [table = ''] = section.slice(section.indexOf('\n|')).split('\n\n');
  const files = [...table.matchAll(/^\| ([a-z\d-]+) \| (`.+) \|$/gm)].flatMap(([, name, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, file]) => `${name}/${file}`),
  );
  expect(files.length).toBeGreaterThan(20);
  return files;
}
