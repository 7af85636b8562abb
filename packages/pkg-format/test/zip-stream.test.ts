import { hash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import yazl from 'yazl';
import { dataDescriptor, directoryRecord, endRecords } from '../src/node/zip/archive-writer.ts';
import { zipStream } from '../src/node/zip/zip-stream.ts';
import { fileEntry, type PlannedEntry } from '../src/write/plan-package.ts';
import { packagePlan } from '../src/write/prepare-package.ts';
import type { FileDigest } from '../src/write/scan-dataset.ts';
import { DEFLATE_LEVEL, ENTRY_MODE } from '../src/write/write-package.ts';
import { collectBytes } from '../src/zip/byte-source.ts';

interface TestFile {
  readonly path: string;
  readonly chunks: readonly Uint8Array[];
}

/** The same archive by yazl: an independent writer. */
async function byYazl(files: readonly TestFile[], entries: readonly PlannedEntry[]): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [index, { path, chunks }] of files.entries()) {
    const compress = entries[index]?.compress ?? false;
    zip.addReadStream(Readable.from(chunks, { objectMode: false }), path, {
      mtime: new Date(1980, 0, 1),
      forceDosTimestamp: true,
      mode: ENTRY_MODE,
      compress,
      compressionLevel: compress ? DEFLATE_LEVEL : 0,
    });
  }
  zip.end();
  return Buffer.from(await collectBytes(zip.outputStream as Readable));
}

async function ours(files: readonly TestFile[], entries: readonly PlannedEntry[]): Promise<Buffer> {
  const sources = new Map(files.map(({ path, chunks }) => [path, () => each(chunks)]));
  return Buffer.from(await collectBytes(zipStream(async () => packagePlan(entries, sources))));
}

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Entries whose size is known to be small are deflated in one call. */
function digestOf(chunks: readonly Uint8Array[]): FileDigest {
  const bytes = Buffer.concat(chunks);
  return { bytes: bytes.byteLength, sha256: hash('sha256', bytes) };
}

const chunk = fc.uint8Array({ minLength: 1, maxLength: 300 });
const text = Buffer.from(Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join('\n'));
const largeChunk = fc.constantFrom(randomBytes(70_000), new Uint8Array(20_000), text.subarray(0, 30_000));
const content = fc.array(fc.oneof({ weight: 6, arbitrary: chunk }, largeChunk), { maxLength: 4 });
const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).map((text) => {
  return `assets/${text.replaceAll(/[/\\]/g, '_')}`;
});
const extension = fc.constantFrom('.png', '.txt', '');

it('writes, byte for byte, what yazl writes', async () => {
  const file = fc.record({
    path: fc.tuple(name, extension).map((parts) => parts.join('x')),
    chunks: content,
  });
  await fc.assert(
    fc.asyncProperty(
      content,
      fc.uniqueArray(file, { maxLength: 12, selector: ({ path }) => path }),
      async (manifest, others) => {
        const files = [{ path: 'manifest.json', chunks: manifest }, ...others];
        const entries = files.map(({ path, chunks }, index) =>
          fileEntry(path, index % 3 === 2 ? null : digestOf(chunks)),
        );
        const [one, other] = [await ours(files, entries), await byYazl(files, entries)];
        expect(one.equals(other)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

it('writes more entries than 16 bits can count', async () => {
  const files = Array.from({ length: 66_000 }, (_, index) => ({
    path: index === 0 ? 'manifest.json' : `assets/${index}.png`,
    chunks: [Buffer.from([index & 0xff])],
  }));
  const archive = await ours(
    files,
    files.map(({ path }) => fileEntry(path, null)),
  );
  const end = archive.subarray(-98);
  expect(end.readUInt32LE(0)).toBe(0x06064b50);
  expect(Number(end.readBigUInt64LE(32))).toBe(66_000);
});

it('writes records of 64 bits from 4 GiB on', () => {
  const at = 2 ** 32 + 5;
  const entry = {
    name: Buffer.from('a'),
    isDeflated: false,
    crc32: 7,
    size: 3,
    compressedSize: 3,
    start: at,
  };
  expect(dataDescriptor({ ...entry, start: 0 }).byteLength).toBe(16);
  expect(Number(dataDescriptor(entry).readBigUInt64LE(16))).toBe(3);
  const record = directoryRecord(entry);
  expect(record.readUInt32LE(42)).toBe(0xffffffff);
  expect(Number(record.readBigUInt64LE(record.byteLength - 8))).toBe(at);
  const end = endRecords(1, at, at + 75);
  expect(Number(end.readBigUInt64LE(48))).toBe(at);
  expect(Number(end.readBigUInt64LE(56 + 8))).toBe(at + 75);
});
