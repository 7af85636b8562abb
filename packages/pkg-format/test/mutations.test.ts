import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import {
  type ByteSource,
  openPackage,
  PackageError,
  type PackageReader,
  writePackage,
} from '../src/index.ts';
import { buildZip } from './build-zip.ts';
import { memoryDataset } from './memory-dataset.ts';
import { readEverything } from './read-everything.ts';

/** What a reader says of an archive, as a value: its content, or its error's code, entry and place. */
async function verdict(open: () => Promise<PackageReader>): Promise<unknown> {
  try {
    await using pkg = await open();
    const { sections, ignored, versionHash } = await readEverything(pkg);
    return { sections, ignored, versionHash };
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    return { code: error.code, entry: error.entry, location: error.location };
  }
}

const limits = { maxTotalBytes: 1_000_000, maxLineBytes: 100_000 };
const readers = (archive: Uint8Array) => [
  verdict(() => openPackage(archive, { limits })),
  verdict(() => openPackage(copyingSource(archive), { limits })),
];

/** Like a file: every read returns a new buffer. */
const copyingSource = (archive: Uint8Array): ByteSource => ({
  byteLength: archive.byteLength,
  read: async (start, end) => archive.slice(start, end),
});

const handmade = buildZip({
  zip64: true,
  comment: 'comment',
  entries: [
    { name: 'sections/a.jsonl', content: '{"id":1,"assets":["assets/x"]}\n{"id":2}\n', zip64: true },
    {
      name: 'sections/b.jsonl',
      content: '{"text":"to be or not to be, that is the question; to be"}',
      descriptor: 'signed',
    },
    { name: 'assets/x', content: 'content', method: 'stored', descriptor: 'zip64', mode: 0o100644 },
    { name: 'meta.json', content: '{"a":1}', extra: new Uint8Array([0x55, 0x54, 1, 0, 0]) },
  ],
});

describe('a damaged archive', () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('set' as const), at: fc.nat(), byte: fc.constantFrom(0, 1, 0x50, 0xff) }),
    fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), count: fc.nat(20) }),
    fc.record({
      kind: fc.constant('insert' as const),
      at: fc.nat(),
      bytes: fc.uint8Array({ maxLength: 12 }),
    }),
    fc.record({ kind: fc.constant('truncate' as const), at: fc.nat() }),
  );
  const apply = (
    archive: Uint8Array,
    changes: (typeof change extends fc.Arbitrary<infer T> ? T : never)[],
  ): Uint8Array => {
    let bytes = archive.slice();
    for (const one of changes) {
      const at = one.at % bytes.length;
      if (one.kind === 'flip') bytes[at]! ^= 1 << one.bit;
      else if (one.kind === 'set') bytes[at] = one.byte;
      else if (one.kind === 'cut')
        bytes = new Uint8Array(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + one.count)]));
      else if (one.kind === 'insert')
        bytes = new Uint8Array(Buffer.concat([bytes.subarray(0, at), one.bytes, bytes.subarray(at)]));
      else bytes = bytes.slice(0, at + 1);
      if (bytes.length === 0) return new Uint8Array(1);
    }
    return bytes;
  };

  it.each([
    ['made by hand', async () => handmade],
    [
      'written by this package',
      () =>
        writePackage(
          memoryDataset([
            {
              name: 'a',
              items: [{ id: 1 }, { id: 2, assets: [{ mime_type: 'a/b', encoding: 'base64', data: 'eHg=' }] }],
            },
          ]),
        ),
    ],
  ])(
    'is judged alike by both readers, and never read as something else (%s)',
    async (_, make) => {
      const archive = await make();
      const [intact] = await Promise.all(readers(archive));
      expect(intact).toHaveProperty('sections');
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 2 }), async (changes) => {
          const [inMemory, streamed] = await Promise.all(readers(apply(archive, changes)));
          expect(streamed).toEqual(inMemory);
          // What is still read has its content intact: changed names aside, there is nothing that may pass unseen.
          if (inMemory && typeof inMemory === 'object' && 'sections' in inMemory) {
            const texts = (value: unknown) =>
              JSON.stringify(
                (value as { sections: { items: unknown }[] }).sections.map(({ items }) => items).sort(),
              );
            expect(texts(inMemory)).toBe(texts(intact));
          }
        }),
        { numRuns: times(1500, 300) },
      );
    },
    30_000,
  );
});
