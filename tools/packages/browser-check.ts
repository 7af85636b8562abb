import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { build, type Rollup } from 'vite';
import { writeParquet } from '../../packages/tabular/test/write-parquet.ts';
import type { FoundChromium } from '../browser/find-chromium.ts';
import { type ConsumerProject, checkPageTypes } from './consumer-project.ts';
import { startExampleHub } from './example-checks.ts';
import { runProgram } from './run-program.ts';

/** Entries that run in a browser. */
const BROWSER_ENTRIES = [
  '@svc/client',
  '@svc/jsonl-v23',
  '@svc/jsonl-v23/mapping',
  '@svc/pkg-format',
  '@svc/tabular',
  '@svc/tabular/datasets',
  '@svc/hub-client',
] as const;

const PAGE = fileURLToPath(new URL('page', import.meta.url));

/** Bundles a folder of the project for browsers; any module of Node in it is an error. */
export async function bundle(root: string, lib?: string): Promise<Rollup.OutputChunk[]> {
  const outputs = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: join(root, 'dist'),
      emptyOutDir: true,
      target: 'es2022',
      ...(lib === undefined
        ? {}
        : { write: false, lib: { entry: lib, formats: ['es'] as const, fileName: 'entry' } }),
      rollupOptions: {
        onLog(_level: string, log: { message: string }) {
          throw new Error(`The bundle for browsers: ${log.message}`);
        },
      },
    },
  } as Parameters<typeof build>[0]);
  const chunks = [outputs as Rollup.RollupOutput | Rollup.RollupOutput[]]
    .flat()
    .flatMap(({ output }) => output)
    .filter((file) => file.type === 'chunk');
  const foreign = chunks.filter(({ code }) => /['"]node:|__vite-browser-external/.test(code));
  assert.equal(foreign.length, 0, 'the bundle for browsers holds modules of Node');
  return chunks;
}

/** Sizes of a browser entry with its dependencies, minified, without tree shaking; in bytes. */
export interface BundleSize {
  readonly entry: (typeof BROWSER_ENTRIES)[number];
  /** Size of what the entry loads first. */
  readonly bytes: number;
  readonly gzipBytes: number;
  /** With what it loads when it is needed. */
  readonly wholeGzipBytes: number;
}

export async function bundleSizes(project: ConsumerProject): Promise<BundleSize[]> {
  const folder = join(project.folder, 'sizes');
  await mkdir(folder, { recursive: true });
  const sizes: BundleSize[] = [];
  for (const entry of BROWSER_ENTRIES) {
    const file = join(folder, `${entry.replaceAll(/@svc\/|\//g, '-')}.js`);
    await writeFile(file, `export * from '${entry}';\n`);
    const chunks = await bundle(folder, file);
    const first = loadedAtOnce(chunks);
    const gzipBytes = (some: readonly Rollup.OutputChunk[]): number =>
      some.reduce((sum, { code }) => sum + gzipSync(code).byteLength, 0);
    sizes.push({
      entry,
      bytes: first.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0),
      gzipBytes: gzipBytes(first),
      wholeGzipBytes: gzipBytes(chunks),
    });
  }
  return sizes;
}

/** The chunk of the entry, and those that it imports. */
function loadedAtOnce(chunks: readonly Rollup.OutputChunk[]): Rollup.OutputChunk[] {
  const names = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const name of names) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
      names.add(imported);
  }
  return chunks.filter(({ fileName }) => names.has(fileName));
}

/** Checks the types of the page and bundles it; returns the folder of the bundle. */
export async function buildPage(project: ConsumerProject): Promise<string> {
  const folder = join(project.folder, 'page');
  await cp(PAGE, folder, { recursive: true });
  await checkPageTypes(project);
  await bundle(folder);
  return join(folder, 'dist');
}

/**
 * Runs the page in a browser: it makes a package, lists its sections, shows its picture, previews a dataset of a hub,
 * and computes the version hash that Node computes for the same package.
 */
export async function runPage(
  project: ConsumerProject,
  page: string,
  { executablePath, args }: FoundChromium,
  node: string,
): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const hub = await startExampleHub();
  cleanUp.defer(() => hub.close());
  const table = writeParquet({ columns: [{ name: 'prompt', data: PROMPTS }] });
  await writeFile(join(page, 'items.parquet'), table);
  const server = servePage(page, hub.endpoint);
  cleanUp.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };

  const browser = await chromium.launch({ executablePath, args: [...args] });
  cleanUp.defer(() => browser.close());
  const tab = await browser.newPage();
  const faults: string[] = [];
  tab.on('pageerror', (error) => faults.push(String(error)));
  tab.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await tab.goto(`http://127.0.0.1:${port}/`);
  const outcome = await tab.evaluate(
    () => (globalThis as unknown as { outcome: Promise<{ archive: string; versionHash: string }> }).outcome,
  );

  assert.deepEqual(await tab.locator('#sections li').allTextContents(), ['pictures', 'sums']);
  assert.deepEqual(await tab.locator('#rows li').allTextContents(), ['1+1? #### 2', '2+1? #### 3']);
  assert.deepEqual(await tab.locator('#table li').allTextContents(), PROMPTS);
  assert.equal(await tab.locator('#hash').textContent(), outcome.versionHash);
  const size = await tab.locator('#pictures img').evaluateAll((images) =>
    images.map((image) => {
      const { naturalWidth, naturalHeight } = image as unknown as {
        naturalWidth: number;
        naturalHeight: number;
      };
      return [naturalWidth, naturalHeight];
    }),
  );
  assert.deepEqual(size, [[8, 4]]);
  // The hub returns 404 for the icon, which is not an error of the page.
  assert.deepEqual(
    faults.filter((fault) => !fault.includes('404')),
    [],
  );

  const archive = join(project.folder, 'from-a-page.pkg.zip');
  await writeFile(archive, Buffer.from(outcome.archive, 'base64'));
  const { text } = await runProgram(node, [
    '--disable-warning=ExperimentalWarning',
    join(project.programs['.js'], 'read-a-package.js'),
    archive,
  ]);
  assert.equal(text.trim().split('\n').at(-1), outcome.versionHash);
}

const PROMPTS = ['1+1?', '2+2?'];

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves the page and the hub on one origin. */
export function servePage(folder: string, hub: string): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    if (pathname.startsWith('/api/') || pathname.startsWith('/datasets/')) {
      const { host: _, ...headers } = request.headers;
      const asked = httpRequest(`${hub}${request.url}`, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(asked);
      return;
    }
    const file = join(folder, pathname === '/' ? 'index.html' : pathname);
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    readFile(file).then(
      (body) => {
        const headers = { 'content-type': TYPES[extname(file)] ?? '' };
        if (start === undefined) return response.writeHead(200, headers).end(body);
        const range = `bytes ${start}-${end}/${body.byteLength}`;
        const part = body.subarray(Number(start), Number(end) + 1);
        return response.writeHead(206, { ...headers, 'content-range': range }).end(part);
      },
      () => response.writeHead(404).end(),
    );
  });
}
