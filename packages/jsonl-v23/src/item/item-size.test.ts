import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../test/arbitrary-json.ts';
import { canonicalByteLength } from '../json/canonical/canonical-json.ts';
import type { JsonObject } from '../json/json-value.ts';
import { fileReferences } from './asset.ts';
import { encodeItem } from './encode-item.ts';
import type { Item } from './item.ts';
import { EmbeddedSize, MAX_ITEM_FILES } from './item-size.ts';
import { parseItem } from './parse-item.ts';
import { embedFiles, rehydrateItem } from './rehydrate-item.ts';

const location = { file: 'sections/a.jsonl', line: 7 };

describe('EmbeddedSize', () => {
  const entry = fc.record(
    {
      path: fc.constantFrom('assets/a.png', 'assets/é', 'assets/"x"'),
      mime_type: fc.constantFrom('image/png', 'text/plain; charset="ü"'),
      encoding: fc.constant('base64'),
      note: fc.string(),
    },
    { requiredKeys: ['path'] },
  );
  const items = fc.record(
    {
      id: fc.string(),
      assets: fc.oneof(fc.array(entry), fc.dictionary(fc.string(), entry)),
      checker: fc.record(
        { type: fc.constant('script'), path: fc.constant('checkers/c.py'), encoding: fc.constant('base64') },
        { requiredKeys: ['type', 'path'] },
      ),
    },
    { requiredKeys: [] },
  );

  it('is the length of the canonical text after embedding', () => {
    fc.assert(
      fc.property(items, fc.array(fc.nat(20), { minLength: 1 }), (value, lengths) => {
        const item = parseItem(value as unknown as JsonObject);
        const references = fileReferences(item);
        const contents = references.map((_, index) => new Uint8Array(lengths[index % lengths.length] ?? 0));
        const size = new EmbeddedSize(canonicalByteLength(item));
        for (const [index, reference] of references.entries())
          size.add(reference, contents[index]?.length ?? 0);
        const whole = embedFiles(item, contents);
        expect(size.bytes).toBe(canonicalByteLength(whole));
        expect(size.bytes).toBe(encodeItem(whole).byteLength);
      }),
    );
  });
});

describe('rehydrateItem', () => {
  const itemOf = (count: number): Item =>
    parseItem({ id: '1', assets: Array<string>(count).fill('assets/x') } as JsonObject);

  it('accepts an item of exactly the maximum size, and refuses one byte more', async () => {
    const read = async () => new Uint8Array(100);
    const maxItemBytes = canonicalByteLength(await rehydrateItem(itemOf(3), read));
    await rehydrateItem(itemOf(3), read, { maxItemBytes, location });
    expect(
      await rejectionOf(rehydrateItem(itemOf(3), read, { maxItemBytes: maxItemBytes - 1, location })),
    ).toMatchObject({ code: 'line_too_long', location: { ...location, path: '/assets/2' } });
  });

  it('stops reading at the reference that makes the item too long', async () => {
    let reads = 0;
    const megabyte = new Uint8Array(1_000_000);
    const read = async (): Promise<Uint8Array> => {
      reads++;
      return megabyte;
    };
    expect(
      await rejectionOf(rehydrateItem(itemOf(9000), read, { maxItemBytes: 5_000_000, location })),
    ).toMatchObject({ code: 'line_too_long' });
    expect(reads).toBe(4);
  });

  it('encodes a file once that many entries refer to', async () => {
    const content = new Uint8Array(50_000);
    const { assets } = await rehydrateItem(itemOf(1000), async () => content);
    const texts = new Set((assets as JsonObject[]).map(({ data }) => data));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toHaveLength(4 * Math.ceil(50_000 / 3));
  });

  it('refuses an item with too many references', async () => {
    const read = async (): Promise<Uint8Array> => new Uint8Array(1);
    await rehydrateItem(itemOf(MAX_ITEM_FILES), read);
    expect(await rejectionOf(rehydrateItem(itemOf(MAX_ITEM_FILES + 1), read, { location }))).toMatchObject({
      code: 'line_too_long',
      location: { ...location, path: `/assets/${MAX_ITEM_FILES}` },
    });
  });
});
