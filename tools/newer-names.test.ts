import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { ENGINES, newerNames } from './newer-names.ts';
import { publishablePackages, ROOT } from './packages/publishable.ts';

const namesIn = (source: string): string[] => newerNames('source.ts', source).map(({ name }) => name);

it.each([
  ['const stack = new AsyncDisposableStack();', 'AsyncDisposableStack'],
  ['const rows = await Array.fromAsync(source);', 'Array.fromAsync'],
  ['export const f = (): unknown => Promise.try(() => JSON.parse("1"));', 'Promise.try'],
  ['const raw = JSON.rawJSON("1");', 'JSON.rawJSON'],
  ["import { crc32, zstdCompress as z } from 'node:zlib';", 'zstdCompress of node:zlib'],
  ["import * as zlib from 'node:zlib';\nzlib.zstdCompressSync(bytes);", 'zstdCompressSync of node:zlib'],
  ["import fs from 'node:fs';\nfs.globSync('*');", 'globSync of node:fs'],
  ["export { glob } from 'node:fs/promises';", 'glob of node:fs/promises'],
  ["import { DatabaseSync } from 'node:sqlite';", 'node:sqlite'],
  ['const made = { stack: new DisposableStack() as Disposable };', 'DisposableStack'],
])('refuses %s', (source, name) => {
  expect(namesIn(source)).toEqual([name]);
});

it.each([
  'export function use(stack: AsyncDisposableStack): void { stack.use(x); }',
  "import type { DatabaseSync } from 'node:sqlite';",
  "import { createGzip, type ZstdOptions } from 'node:zlib';",
  "const has = typeof WebSocket === 'function';",
  'const { rawJSON } = JSON as { rawJSON?: unknown };',
  "const zlib = await import('node:zlib');\nconst z = zlib.zstdCompress;",
  'class Rows { groupBy() { return this.navigator; } }\nconst o = { WebSocket: 1 };',
])('accepts %s', (source) => {
  expect(namesIn(source)).toEqual([]);
});

it('names the line', () => {
  expect(newerNames('a.ts', '\n\nnew WebSocket("ws://x");')).toEqual([{ name: 'WebSocket', line: 3 }]);
});

it.each(publishablePackages().map(({ manifest }) => [manifest.name, manifest] as const))(
  '%s runs on the oldest Nodes',
  (_name, { engines }) => expect(engines.node).toBe(ENGINES),
);

/** The build of `svc-pkg` bundles parts of it. */
const EVALUATION = join(ROOT, 'packages/service/src/evaluation');

it.each([...publishablePackages().map(({ folder }) => join(folder, 'src')), EVALUATION])(
  '%s uses nothing that the oldest Nodes lack',
  (folder) => {
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    const found = sources.flatMap((name) => {
      const file = join(folder, name);
      return newerNames(file, readFileSync(file, 'utf8')).map(
        ({ name, line }) => `${relative(ROOT, file)}:${line}: ${name}`,
      );
    });
    expect(found).toEqual([]);
  },
);
