import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_LONG, times } from '../../../tools/vitest/long.ts';
import { openPackage, type PackageReader } from '../src/index.ts';
import { openPackageFile } from '../src/node/index.ts';
import { bytesSource, collectBytes } from '../src/zip/byte-source.ts';
import { buildZip } from './build-zip.ts';
import { readEverything } from './read-everything.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-format-'));
});
afterAll(() => rm(folder, { recursive: true }));

const BOMB_BYTES = times(512, 128) * 1024 ** 2;

/** An archive whose one line has a thousand times its size. */
async function bomb(): Promise<Uint8Array> {
  const deflate = createDeflateRaw({ level: 9, strategy: constants.Z_DEFAULT_STRATEGY });
  const chunk = Buffer.alloc(16 * 1024 * 1024, 'x');
  let crc = 0;
  const packed = collectBytes(deflate);
  for (let written = 0; written < BOMB_BYTES; written += chunk.length) {
    crc = crc32(chunk, crc);
    if (!deflate.write(chunk)) await new Promise((resolve) => deflate.once('drain', resolve));
  }
  deflate.end();
  return buildZip({
    entries: [{ name: 'sections/a.jsonl', packed: await packed, methodId: 8, size: BOMB_BYTES, crc32: crc }],
  });
}

describe('a line of a thousand times the size of its archive', () => {
  let archive: Uint8Array;
  beforeAll(async () => {
    archive = await bomb();
  });

  const open: [string, (limits: Parameters<typeof openPackage>[1]) => Promise<PackageReader>][] = [
    ['in memory', (options) => openPackage(archive, options)],
    [
      'from a file',
      async (options) => {
        const path = join(folder, 'bomb.zip');
        await writeFile(path, archive);
        return openPackageFile(path, options);
      },
    ],
  ];

  it.each(open)('is stopped by its expansion ratio, %s', async (_, openBomb) => {
    await using pkg = await openBomb({});
    await expect(readEverything(pkg)).rejects.toMatchObject({
      code: 'package_limit',
      entry: 'sections/a.jsonl',
    });
  });

  it.runIf(IS_LONG).each(open)('costs little memory, %s', async (_, openBomb) => {
    const before = process.memoryUsage().rss;
    await using pkg = await openBomb({ limits: { maxExpansionRatio: 2000 } });
    await expect(readEverything(pkg)).rejects.toMatchObject({ code: 'package_limit', location: { line: 1 } });
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  });

  it.each(open)('is stopped by the total, %s', async (_, openBomb) => {
    await using pkg = await openBomb({ limits: { maxExpansionRatio: 2000, maxTotalBytes: 10_000_000 } });
    await expect(readEverything(pkg)).rejects.toMatchObject({
      code: 'package_limit',
      entry: 'sections/a.jsonl',
    });
  });
});

describe('limits', () => {
  it('accept what is exactly at the limit', async () => {
    const line = '{"assets":["assets/x"]}';
    const archive = buildZip({
      entries: [
        { name: 'sections/a.jsonl', content: line },
        { name: 'assets/x', content: 'x'.repeat(50) },
      ],
    });
    const data = Buffer.from('x'.repeat(50)).toString('base64');
    const entry = { path: 'assets/x', mime_type: 'application/octet-stream', encoding: 'base64', data };
    const limits = {
      maxEntries: 2,
      maxLineBytes: JSON.stringify({ assets: [entry] }).length,
      maxAssetBytes: 50,
      maxTotalBytes: line.length + 50,
      maxDepth: 2,
    };
    for (const change of [0, 1] as const) {
      for (const [key, value] of Object.entries(limits)) {
        const reading = openPackage(archive, { limits: { ...limits, [key]: value - change } }).then(
          readEverything,
        );
        if (change === 0) await reading;
        else
          await expect(reading, key).rejects.toMatchObject({
            code: key === 'maxDepth' ? 'package_invalid_line' : 'package_limit',
          });
      }
    }
  });

  it('count a file as often as it is read', async () => {
    const archive = buildZip({
      entries: [
        { name: 'sections/a.jsonl', content: '{"assets":["assets/x"]}\n'.repeat(100) },
        { name: 'assets/x', content: 'x'.repeat(1000) },
      ],
    });
    await expect(
      openPackage(archive, { limits: { maxTotalBytes: 50_000 } }).then(readEverything),
    ).rejects.toMatchObject({
      code: 'package_limit',
      entry: 'assets/x',
      location: { file: 'sections/a.jsonl' },
    });
  });
});

describe('ending early', () => {
  const big = buildZip({
    entries: [
      {
        name: 'sections/a.jsonl',
        content: `${JSON.stringify({ text: 'words '.repeat(100) })}\n`.repeat(5000),
      },
    ],
  });

  it('a signal stops the reading, in both', async () => {
    const path = join(folder, 'big.zip');
    await writeFile(path, big);
    for (const pkg of [
      await openPackage(big),
      await openPackageFile(path),
      await openPackage(bytesSource(big)),
    ]) {
      await using open = pkg;
      const abort = new AbortController();
      const reason = new Error('enough');
      const reading = (async () => {
        for await (const _ of open.sections[0]!.bytes({ signal: abort.signal })) abort.abort(reason);
      })();
      await expect(reading).rejects.toBe(reason);
      await expect(collectBytes(open.sections[0]!.bytes({ signal: AbortSignal.abort(reason) }))).rejects.toBe(
        reason,
      );
    }
  });

  it('leaving a section half read and closing leaves nothing open', async () => {
    const path = join(folder, 'half.zip');
    await writeFile(path, big);
    const pkg = await openPackageFile(path);
    for await (const _ of pkg.sections[0]!.bytes()) break;
    await pkg[Symbol.asyncDispose]();
    await expect(collectBytes(pkg.sections[0]!.bytes())).rejects.toThrow();
  });

  it('the file is closed when opening fails', async () => {
    const path = join(folder, 'not.zip');
    await writeFile(path, 'no archive');
    const { readlink, readdir } = await import('node:fs/promises');
    await expect(openPackageFile(path)).rejects.toMatchObject({ code: 'package_not_a_zip' });
    const handles = await readdir('/proc/self/fd').catch(() => []);
    const targets = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
    expect(targets).not.toContain(path);
  });

  it('reading a file that is not there is the file system’s error', async () => {
    await expect(openPackageFile(join(folder, 'nowhere.zip'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
