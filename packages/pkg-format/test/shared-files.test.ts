import { createHash, randomBytes } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { checkPackage, openPackage, type PackageError } from '../src/index.ts';
import { bytesSource } from '../src/zip/byte-source.ts';
import { buildZip } from './build-zip.ts';
import { readEverything } from './read-everything.ts';

describe('files that many entries refer to', () => {
  /** A megabyte that deflates to a thousandth: no entry is beyond the ratio, which is for what is larger. */
  const asset = { name: 'assets/x', content: new Uint8Array(1024 * 1024) };
  const lineOf = (references: number): string =>
    JSON.stringify({ id: '1', assets: Array(references).fill('assets/x') });

  it.each([
    ['in memory', (archive: Uint8Array) => openPackage(archive)],
    ['from a source', (archive: Uint8Array) => openPackage(bytesSource(archive))],
  ])('do not make an item longer than a line may be, %s', async (_, open) => {
    const archiveOf = (references: number): Uint8Array =>
      buildZip({
        entries: [{ name: 'sections/a.jsonl', content: `{}\n\n${lineOf(references)}\n` }, asset],
      });
    await readEverything(await open(archiveOf(47)));
    const archive = archiveOf(48);
    await using pkg = await open(archive);
    const before = process.memoryUsage().rss;
    await expect(readEverything(pkg)).rejects.toMatchObject({
      code: 'package_limit',
      location: { file: 'sections/a.jsonl', line: 3, path: '/assets/47' },
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(700 * 1024 * 1024);
  });

  it.runIf(IS_LONG).each([
    ['in memory', (archive: Uint8Array) => openPackage(archive)],
    ['from a source', (archive: Uint8Array) => openPackage(bytesSource(archive))],
  ])('count once towards the ratio of an archive, %s', async (_, open) => {
    const archive = buildZip({
      entries: [{ name: 'sections/a.jsonl', content: `${lineOf(1)}\n`.repeat(70) }, asset],
    });
    const { sections } = await readEverything(await open(archive));
    expect(sections[0]?.items).toHaveLength(70);
  });

  it('do not make an archive expand beyond its ratio, and are one error', async () => {
    const lines = Array.from({ length: 70 }, (_, index) => `{"assets":["assets/${index}"]}`);
    const content = new Uint8Array(1024 * 1024);
    const packed = deflateRawSync(content);
    const file = { packed, methodId: 8, size: content.length, crc32: crc32(content) };
    const archive = buildZip({
      entries: [
        { name: 'sections/a.jsonl', content: lines.join('\n') },
        ...lines.map((_, index) => ({ name: `assets/${index}`, ...file })),
      ],
    });
    await expect(openPackage(archive).then(readEverything)).rejects.toMatchObject({
      code: 'package_limit',
      entry: 'assets/63',
      message: expect.stringContaining('as a whole'),
      location: { file: 'sections/a.jsonl', line: 64, path: '/assets/0' },
    });
    const errors: unknown[] = [];
    for await (const error of checkPackage(await openPackage(archive))) errors.push(error);
    expect(errors).toEqual([expect.objectContaining({ code: 'package_limit', entry: 'assets/63' })]);
  });

  it('count for each reference towards the total', async () => {
    const archive = buildZip({
      entries: [{ name: 'sections/a.jsonl', content: `${lineOf(1)}\n`.repeat(64) }, asset],
    });
    const maxTotalBytes = 60 * 1024 * 1024;
    const errors: PackageError[] = [];
    const pkg = await openPackage(archive, { limits: { maxTotalBytes } });
    for await (const error of checkPackage(pkg)) errors.push(error);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'package_limit', location: { line: 60 } });
    expect(errors[0]?.message).toContain('once for each reference');
  });

  it('are unpacked once for items that follow one another', async () => {
    const content = randomBytes(1_000_000);
    const archive = buildZip({
      entries: [
        { name: 'sections/a.jsonl', content: `${lineOf(2)}\n`.repeat(20) },
        { name: 'assets/x', content },
      ],
    });
    let bytesRead = 0;
    const source = bytesSource(archive);
    const pkg = await openPackage({
      byteLength: source.byteLength,
      read(start, end) {
        bytesRead += end - start;
        return source.read(start, end);
      },
    });
    await readEverything(pkg);
    expect(bytesRead).toBeLessThan(1.5 * archive.byteLength);
  });

  it.runIf(IS_LONG)('count when only their checksum is checked', async () => {
    const files = Array.from({ length: 66 }, (_, index) => `x/${index}`);
    const content = new Uint8Array(1024 * 1024);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const manifest = JSON.stringify({ files: files.map((path) => ({ path, sha256 })) });
    const archive = buildZip({
      entries: [
        { name: 'manifest.json', content: manifest },
        { name: 'sections/a.jsonl', content: '{}' },
        ...files.map((name) => ({ name, content })),
      ],
    });
    await expect(openPackage(archive).then(readEverything)).rejects.toMatchObject({ code: 'package_limit' });
  });
});
