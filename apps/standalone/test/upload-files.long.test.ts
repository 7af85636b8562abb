import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { until } from '../../../tools/vitest/until.ts';
import { INSPECT, inspect } from './faults/inspect.ts';
import { type LogLine, runService } from './faults/run-service.ts';
import { makeDataFolder } from './make-data-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Files beyond those of `GET /healthz`, with those that begin to make tables afterwards: a step that needs more of them should take the place of another one. */
const MAX_FILES = 73;

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
  // What the background makes of an upload is not what the next one runs.
  let made = 0;
  const settled = (): Promise<unknown> => {
    made += 1;
    const isMade = ({ event }: LogLine): boolean => event === 'hub.layout.finish';
    return until(service.log, (log) => log.filter(isMade).length >= made);
  };
  // The first upload loads and prepares what later ones use.
  await upload();
  await settled();
  using inspector = await inspect(service);
  await inspector.call('Profiler.enable');
  await inspector.call('Profiler.startPreciseCoverage', { callCount: true });
  const filesOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    await inspector.call('Profiler.takePreciseCoverage');
    await work();
    const { result } = await inspector.call('Profiler.takePreciseCoverage');
    if (work === upload) await settled();
    return [...new Set((await Promise.all((result as Script[]).map(filesRun))).flat())];
  };
  const probe = new Set(await filesOf(async () => (await fetch(`${service.url}/healthz`)).text()));
  // Other work in the background runs now and then: what each upload runs is what counts.
  const uploads = [await filesOf(upload), await filesOf(upload), await filesOf(upload)];
  const files = uploads.reduce((common, found) => common.filter((file) => found.includes(file)));

  expect(files).toEqual(expect.arrayContaining(await listedFiles()));
  const beyond = files.filter((file) => !probe.has(file));
  expect(beyond.length, beyond.join('\n')).toBeLessThanOrEqual(MAX_FILES);
});

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
