import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { DATASET, fakeService, type Handler } from './fake-service.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

/** The program as it is installed: the build, in a separate process. */
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Has `/dev/full` and `/proc`. */
const isLinux = process.platform === 'linux';

interface Ended {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(process.execPath, [MAIN, ...argv], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ended(child: ChildProcess): Promise<Ended> {
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout!),
    text(child.stderr!),
  ]);
  return { code, signal, stdout, stderr };
}

const run = (argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  ended(start(argv, env));

it('names a proxy that is not there, and not its credentials', async () => {
  const service = await fakeService({});
  // Nothing listens on port 1.
  const outcome = await run(['show', DATASET.id, '--api-url', service.url], {
    http_proxy: 'http://me:secret@127.0.0.1:1',
  });
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain(
    'Cannot connect to the proxy 127.0.0.1:1: connection refused (service_unreachable)',
  );
  expect(outcome.stderr).not.toContain('secret');
});

it.runIf(IS_LONG)(
  'takes a proxy without a scheme for an HTTP proxy, and names the variable of one that is no address',
  async () => {
    const service = await fakeService({});
    const without = await run(['show', DATASET.id, '--api-url', service.url], { http_proxy: '127.0.0.1:1' });
    expect(without.stderr).toContain('Cannot connect to the proxy 127.0.0.1:1: connection refused');
    const invalid = await run(['--version'], { HTTPS_PROXY: 'ftp://me:secret@127.0.0.1' });
    expect([invalid.code, invalid.stderr]).toEqual([
      2,
      'svc-pkg: HTTPS_PROXY must be the address of a proxy, such as http://proxy.example:3128 (usage)\n',
    ]);
  },
);

const EXPORT = `/datasets/${DATASET.id}/export`;

/** Sends the beginning of an archive and then nothing; `begun` settles after the beginning. */
function endlessExport(): { handler: Handler; begun: Promise<void> } {
  const begun = Promise.withResolvers<void>();
  const handler: Handler = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/zip' });
    response.write(Buffer.alloc(64 * 1024));
    begun.resolve();
  };
  return { handler, begun: begun.promise };
}

/** Waits until the temporary file of an output is not empty. */
async function untilWriting(folder: string): Promise<void> {
  for (;;) {
    for (const name of await readdir(folder)) if ((await stat(join(folder, name))).size > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The files that a command line loads, below the folder of the program as they are named there. */
async function loadedBy(argv: readonly string[]): Promise<string[]> {
  const folder = await temporaryFolder();
  await run(argv, { NODE_V8_COVERAGE: folder });
  const [report = ''] = await readdir(folder);
  const { result } = JSON.parse(await readFile(join(folder, report), 'utf8')) as {
    result: { url: string }[];
  };
  return result
    .map(({ url }) => url.replace(`file://${dirname(MAIN)}/`, ''))
    .filter((url) => !url.startsWith('node:'));
}

it('loads what a command needs', async () => {
  const forVersion = await loadedBy(['--version']);
  expect(forVersion.filter((url) => /\/(?:undici|pkg-format|tabular)\//.test(url))).toEqual([]);
  expect(forVersion.filter((url) => url.startsWith('commands/'))).toEqual(['commands/define-operation.js']);
  const service = await fakeService({});
  const forRuns = await loadedBy(['runs', '--api-url', service.url]);
  expect(forRuns).toContain('commands/runs/runs.js');
  // An error is reported by one more.
  expect(
    forRuns.filter((url) => /^[a-z-/]+\.js$/.test(url) && url !== 'errors/failure.js').length,
  ).toBeLessThanOrEqual(12);
});

it('is an executable program', async () => {
  expect(await readFile(MAIN, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  expect(manifest.bin).toEqual({ 'svc-pkg': 'dist/main.js' });
  expect(await run(['--version'])).toEqual({
    code: 0,
    signal: null,
    stdout: `${manifest.version}\n`,
    stderr: '',
  });
});

it.each<[number, (good: string) => string[]]>([
  [0, (good) => ['hash', good]],
  [1, (good) => ['check', '--strict', good]],
  [1, (good) => ['upload', good]],
  [0, (good) => ['hash', good, good]],
  [2, () => ['hash']],
  [0, () => []],
  [3, () => ['hash', 'no-such.pkg.zip']],
])('ends with exit code %i', async (code, argv) => {
  const good = await writeArchive({ 'sections/a.jsonl': '{}\n' });
  const outcome = await run(argv(good), { SVC_API_URL: 'http://127.0.0.1:1' });
  expect(outcome).toMatchObject({ code, signal: null });
});

it.each([
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
] as const)('ends at %s and takes its temporary file away', async (signal, code, reason) => {
  const { handler } = endlessExport();
  const service = await fakeService({ [`GET ${EXPORT}`]: handler });
  const folder = await temporaryFolder();
  const child = start(['export', DATASET.id, '--output', folder, '--api-url', service.url]);
  const end = ended(child);
  await untilWriting(folder);
  child.kill(signal);
  expect(await end).toMatchObject({
    code,
    signal: null,
    stdout: '',
    stderr: expect.stringContaining(`(${reason})`),
  });
  expect(await readdir(folder)).toEqual([]);
});

it('keeps the old output when it is killed', async () => {
  const { handler } = endlessExport();
  const service = await fakeService({ [`GET ${EXPORT}`]: handler });
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'out'));
  const output = join(folder, 'out', 'set.pkg.zip');
  const child = start(['export', DATASET.id, '--output', output, '--api-url', service.url]);
  const end = ended(child);
  await untilWriting(join(folder, 'out'));
  child.kill('SIGKILL');
  await end;
  expect(await readdir(join(folder, 'out'))).not.toContain('set.pkg.zip');
});

it.each([
  ['a report', (bad: string) => ['check', bad]],
  ['the help', () => ['--help']],
])('ends quietly when the reader of %s closes the pipe', async (_name, argv) => {
  const bad = await writeArchive({ 'sections/a.jsonl': 'nonsense that is not JSON\n'.repeat(2000) });
  const child = start(argv(bad));
  child.stdout!.destroy();
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr!)]);
  expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
});

it('ends quietly when the reader of an archive closes the pipe', async () => {
  const service = await fakeService({
    [`GET ${EXPORT}`]: (_request, response) => {
      const chunks = new Array<Buffer>(10_000).fill(Buffer.alloc(64 * 1024));
      return pipeline(Readable.from(chunks), response).catch(() => {});
    },
  });
  const child = start(['export', DATASET.id, '--output', '-', '--api-url', service.url]);
  child.stdout!.once('data', () => child.stdout!.destroy());
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr!)]);
  expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
});

it.runIf(IS_LONG && isLinux)('ends with exit code 3 when standard output is full', async () => {
  const good = await writeArchive({ 'sections/a.jsonl': '{}\n' });
  const argv = `"${process.execPath}" "${MAIN}" hash "${good}" > /dev/full`;
  const outcome = await ended(spawn('/bin/sh', ['-c', argv], { stdio: ['ignore', 'pipe', 'pipe'] }));
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('io_error') });
});

it.runIf(IS_LONG && isLinux)(
  'treats descriptors as standard input: without a name, and with no folder to write to',
  async () => {
    const folder = await temporaryFolder();
    const items = join(folder, 'items');
    await writeFile(items, '{"id":1,"inputs":{"prompt":"p"}}\n');
    const shell = (line: string): Promise<Ended> => {
      const program = `"${process.execPath}" "${MAIN}"`;
      const argv = line.replaceAll('svc-pkg', program);
      return ended(spawn('/bin/sh', ['-c', argv], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }));
    };
    const named = async (path: string): Promise<string> => (await shell(`svc-pkg inspect ${path}`)).stdout;
    expect(await shell('cat items | svc-pkg pack /dev/fd/0 > a.zip')).toMatchObject({ code: 0, stderr: '' });
    expect(await named('a.zip')).toMatch(/^name +stdin$/m);
    expect(await shell('svc-pkg pack /dev/stdin < items > b.zip')).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'b.zip'))).toEqual(await readFile(join(folder, 'a.zip')));

    const two = 'cat items | svc-pkg pack /dev/fd/0 /dev/fd/3 3< items -o c.zip';
    expect(await shell(two)).toMatchObject({ code: 0 });
    expect(await named('c.zip')).toMatch(/^sections\n {2}stdin {4}1 item\n {2}stdin-2 {2}1 item$/m);

    await writeArchive({ 'a.jsonl': '{"id":1,"prompt":"p"}\n' }).then((path) =>
      rename(path, join(folder, 'old')),
    );
    expect(await shell('cat old | svc-pkg convert /dev/fd/0 > d.zip')).toMatchObject({ code: 0 });
    expect(await named('d.zip')).toMatch(/^name +stdin$/m);
    expect(await shell('svc-pkg convert /dev/fd/3 /dev/fd/4 3< old 4< old > e.zip')).toMatchObject({
      code: 2,
    });
    // A pipe with a name in a folder gets its package there.
    expect(await shell('mkfifo p.zip; cat old > p.zip & svc-pkg convert p.zip')).toMatchObject({ code: 0 });
    expect(await named('p.pkg.zip')).toMatch(/^name +p$/m);
  },
);

it.runIf(IS_LONG && isLinux)('writes directly to a device, and reports that it is full', async () => {
  const service = await fakeService({ [`GET ${EXPORT}`]: (_request, response) => void response.end('zip') });
  const argv = ['export', DATASET.id, '--api-url', service.url, '--output'];
  expect(await run([...argv, '/dev/null'])).toMatchObject({ code: 0 });
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  expect(await run([...argv, '/dev/full', '--force'])).toMatchObject({
    code: 3,
    stderr: '/dev/full: Cannot write the file: no space left on the device (io_error)\n',
  });
});

/** A file system of 256 KiB until it is disposed of; null where this process may not mount one. */
async function smallDisk(): Promise<(AsyncDisposable & { folder: string }) | null> {
  const folder = join(await temporaryFolder(), 'disk');
  await mkdir(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return { folder, [Symbol.asyncDispose]: async () => void execFileSync('umount', ['-l', folder]) };
}

it('leaves nothing on a disk that is full', async (context) => {
  await using disk = await smallDisk();
  if (disk === null) return context.skip('this process may not mount a file system');
  const service = await fakeService({
    [`GET ${EXPORT}`]: (_request, response) => void response.end(Buffer.alloc(1024 * 1024)),
  });
  const outcome = await run(['export', DATASET.id, '--output', disk.folder, '--api-url', service.url]);
  expect(outcome).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/no space left on the device \(io_error\)/),
  });
  expect(await readdir(disk.folder)).toEqual([]);
});

it.runIf(IS_LONG && isLinux)('sends a large file without holding it', async () => {
  let peakKiB = 0;
  const service = await fakeService({
    'raw POST /datasets/upload': async (_request, response, raw) => {
      for await (const _ of raw);
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      peakKiB = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(DATASET));
    },
  });
  const path = join(await temporaryFolder(), 'large.pkg.zip');
  await writeFile(path, '');
  await truncate(path, 512 * 1024 ** 2);
  const child = start(['upload', path, '--api-url', service.url]);
  expect(await ended(child)).toMatchObject({ code: 0, stderr: '' });
  expect(peakKiB).toBeGreaterThan(0);
  expect(peakKiB).toBeLessThan(256 * 1024);
});

/** An archive whose conversion takes a second. */
function longLegacy(): Promise<string> {
  const lines = Array.from({ length: 60_000 }, (_, index) => {
    const noise = createHash('sha256').update(String(index)).digest('base64');
    return `{"id":${index},"prompt":"${noise}","expected":"${noise.slice(0, 9)}"}\n`;
  });
  return writeArchive({ 'data/a.jsonl': lines.join(''), 'readme.txt': '' }, {}, 'old.zip');
}

/** Waits until a conversion has begun to write its temporary file. */
async function untilConverting(folder: string): Promise<void> {
  while ((await readdir(folder)).length === 1) await new Promise((resolve) => setTimeout(resolve, 5));
}

it('removes everything when a conversion is interrupted', async () => {
  const legacy = await longLegacy();
  const child = start(['convert', legacy]);
  const end = ended(child);
  await untilConverting(dirname(legacy));
  child.kill('SIGINT');
  expect(await end).toEqual({
    code: 130,
    signal: null,
    stdout: '',
    stderr: 'svc-pkg: Interrupted (interrupted)\n',
  });
  expect(await readdir(dirname(legacy))).toEqual(['old.zip']);
});

it.runIf(IS_LONG)('leaves no half-written package when a conversion is killed', async () => {
  const legacy = await longLegacy();
  const child = start(['convert', legacy]);
  const end = ended(child);
  await untilConverting(dirname(legacy));
  child.kill('SIGKILL');
  expect(await end).toMatchObject({ code: null, signal: 'SIGKILL' });
  const names = await readdir(dirname(legacy));
  expect(names.filter((name) => !name.startsWith('.'))).toEqual(['old.zip']);
});

it.runIf(IS_LONG)('leaves nothing of a conversion to a tool on a disk that is full', async (context) => {
  await using disk = await smallDisk();
  if (disk === null) return context.skip('this process may not mount a file system');
  const items = join(await temporaryFolder(), 'items.jsonl');
  const prompt = 'x'.repeat(300);
  await writeFile(items, `${JSON.stringify({ inputs: { prompt }, answer: 'x' })}\n`.repeat(2000));
  const pkg = `${items}.pkg.zip`;
  expect(await run(['pack', items, '-o', pkg])).toMatchObject({ code: 0 });
  const output = join(disk.folder, 'out.jsonl');
  expect(await run(['convert', '--to', 'promptfoo', pkg, '-o', output])).toMatchObject({
    code: 3,
    stderr: `${output}: Cannot write the file: no space left on the device (io_error)\n`,
  });
  expect(await readdir(disk.folder)).toEqual([]);
});

it.runIf(IS_LONG)('leaves nothing of a conversion on a disk that is full', async (context) => {
  await using disk = await smallDisk();
  if (disk === null) return context.skip('this process may not mount a file system');
  const outcome = await run(['convert', await longLegacy(), '--output', disk.folder]);
  expect(outcome).toMatchObject({
    code: 3,
    stdout: '',
    stderr: `${disk.folder}/old.pkg.zip: Cannot write the file: no space left on the device (io_error)\n`,
  });
  expect(await readdir(disk.folder)).toEqual([]);
});
