import { createHash } from 'node:crypto';
import { encodeItem, fileReferences, type Item, itemHash, joinItem, parseItem } from '@svc/jsonl-v23';
import { embedFiles, filesOfPart, isCheckerFile, itemSize, layoutPart } from '@svc/jsonl-v23/assets';
import { canonicalJson, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { times } from '../../../../../../tools/vitest/long.ts';
import type { AssetStore } from '../asset-store.ts';
import { itemText } from '../assets.ts';
import { readLinkedFiles, writeLinkedFiles } from '../linked-files-column.ts';
import { type LinkedItem, linkItem } from './link-item.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).map((content) => Buffer.from(content));
const base64 = bytes.map((content) => content.toString('base64'));
const sha256 = fc.constantFrom(
  'ab'.repeat(32),
  '',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
);
/** Members that a link has too, and others around them in the order of keys. */
const members = fc.dictionary(
  fc.constantFrom(
    'sha256',
    'byte_length',
    'bytes',
    'aaa',
    'dat',
    'dataa',
    'encodin',
    'z',
    '𝄞',
    'ﬀ',
    '__proto__',
    'caption',
  ),
  fc.oneof(
    sha256,
    fc.nat(),
    fc.string({ unit: 'binary', maxLength: 5 }),
    fc.constant({ data: '', sha256: 'x' }),
  ),
  { maxKeys: 4 },
);
const kind = fc.oneof(
  fc.record({ data: base64, mime_type: fc.constantFrom('image/png', 'ü', '') }, { requiredKeys: ['data'] }),
  fc.record({ data: base64, path: fc.constantFrom('assets/a.png', 'else/b', '/c') }),
  fc.record({ path: fc.constantFrom('assets/a.png', 'assets/b.bin') }),
  fc.constant({ url: 'https://example.org/a' }),
  // what a link looks like
  fc.record({
    byte_length: fc.nat(),
    mime_type: fc.constant('image/png'),
    sha256,
    url: fc.constant('https://x'),
  }),
);
const entry = fc.tuple(members, kind).map(([others, own]) => ({ ...others, ...own }));
const short = base64.map((data) => `data:image/png;base64,${data}`);
const assets = fc.oneof(
  fc.array(fc.oneof(entry, short), { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('a', 'b', '1', '0', '~/"', '𝄞', 'ﬀ', '__proto__'), fc.oneof(entry, short), {
    maxKeys: 4,
  }),
);
const checker = fc.oneof(
  fc.constant(undefined),
  fc.constant('exact'),
  fc
    .tuple(members, fc.record({ encoding: fc.constant('base64'), data: base64, type: fc.constant('code') }))
    .map(([others, own]) => ({ ...others, ...own })),
  fc.record({ path: fc.constant('checkers/a.py'), type: fc.constant('code') }),
  fc.record({ sha256, byte_length: fc.nat() }),
);
const item = fc
  .record(
    { id: fc.nat(), answer: fc.constantFrom('4', null), assets, checker, zeta: fc.string() },
    { requiredKeys: ['assets'] },
  )
  .map((value): Item => parseItem(JSON.parse(JSON.stringify(value)) as JsonValue, {}));

/** Contents by hash. */
function storeOf(linked: LinkedItem): AssetStore {
  const contents = new Map(linked.contents.map((content) => [content.sha256, content.bytes]));
  return {
    put: () => Promise.reject(new Error('not needed')),
    readSome: () => Promise.reject(new Error('not needed')),
    findMissing: async () => [],
    remove: () => Promise.reject(new Error('not needed')),
    async *read(_, hash) {
      const content = contents.get(hash) ?? Buffer.from('lost');
      for (let at = 0; at < content.byteLength; at += 7) yield content.subarray(at, at + 7);
    },
  };
}

async function textOf(linked: LinkedItem, assets = storeOf(linked)): Promise<string> {
  let text = '';
  const unused = () => Promise.reject(new Error('not needed'));
  const reads = { query: unused, copy: unused };
  for await (const piece of itemText({ assets, reads }, linked)) text += piece;
  return text;
}

describe('linkItem', () => {
  it('returns every item, look-alikes of links included, with its hash and its size', async () => {
    await fc.assert(
      fc.asyncProperty(item, fc.array(bytes, { minLength: 5, maxLength: 5 }), async (given, files) => {
        const contents = fileReferences(given).map((_, index) => files[index] as Uint8Array);
        const whole = embedFiles(given, contents);
        const expected = encodeItem(whole);
        const linked = linkItem(given, { contents });
        expect(Buffer.from(linked.itemHash).toString('hex')).toBe(
          Buffer.from(itemHash(whole)).toString('hex'),
        );
        expect(await textOf(linked)).toBe(canonicalJson(whole));
        expect(linked).toMatchObject({
          type: expected.type,
          payload: expected.payload,
          answer: expected.answer,
          assetCount: expected.assetCount,
          byteLength: expected.byteLength,
        });
        expect(Buffer.byteLength(joinItem(linked)) + linked.linkedBytes).toBe(expected.byteLength);
        const { textBytes, base64Bytes } = itemSize(whole);
        expect(textBytes + base64Bytes).toBe(expected.byteLength);
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('reads a file once for the entries in a row that embed it', async () => {
    const embedded = { data: Buffer.from('a file').toString('base64'), encoding: 'base64' };
    const given = { assets: { a: embedded, b: embedded } };
    const linked = linkItem(given);
    const assets = storeOf(linked);
    const read = vi.spyOn(assets, 'read');
    expect(await textOf(linked, assets)).toBe(canonicalJson(given));
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('leaves references as they are where no files are given, as in rows of the hub', () => {
    const given = {
      assets: { a: { path: 'assets/a.png' } },
      checker: { path: 'checkers/a.py', type: 'code' },
    };
    expect(linkItem(given)).toMatchObject({
      assets: canonicalJson(given.assets),
      checker: canonicalJson(given.checker),
      linkedFiles: [],
    });
  });

  it('keeps of each file a hash and a length, and its content', () => {
    fc.assert(
      fc.property(item, (given) => {
        const references = fileReferences(given);
        const linked = linkItem(given, { contents: references.map(() => Buffer.from('file')) });
        expect(readLinkedFiles(writeLinkedFiles(linked.linkedFiles))).toEqual(linked.linkedFiles);
        for (const [index, file] of linked.linkedFiles.entries()) {
          const text = (isCheckerFile(file) ? linked.checker : linked.assets) ?? '';
          const entry = parseJson(text.slice(file.start, file.end));
          expect(entry).toMatchObject({ sha256: file.sha256, byte_length: file.byteLength });
          expect(entry).not.toHaveProperty('data');
          const content = linked.contents[index];
          expect(content).toMatchObject({ sha256: file.sha256 });
          expect(
            createHash('sha256')
              .update(content?.bytes ?? '')
              .digest('hex'),
          ).toBe(file.sha256);
        }
        const pieces = layoutPart(linked.assets ?? '', filesOfPart(linked.linkedFiles, 'assets'));
        expect(pieces.filter((piece) => typeof piece !== 'string')).toEqual(
          linked.linkedFiles.filter((file) => !isCheckerFile(file)),
        );
      }),
    );
  });
});
