import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collect, item, rejectionOf } from '../../test/arbitrary-json.ts';
import { parseItem } from '../item/parse-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { readItems, writeItems } from './read-items.ts';

const decode = (chunks: Uint8Array[]): string => new TextDecoder().decode(Buffer.concat(chunks));

describe('writeItems', () => {
  it('writes one canonical text per line', async () => {
    const items = [{ b: 1, a: 'é\ud800' }, {}];
    expect(decode(await collect(writeItems(items)))).toBe('{"a":"é\\ud800","b":1}\n{}\n');
    expect(await collect(writeItems([]))).toEqual([]);
  });

  it('writes what readItems reads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 5 }), async (items) => {
        const chunks = await collect(writeItems(items));
        async function* source(): AsyncGenerator<Uint8Array> {
          yield* chunks;
        }
        const found = await collect(readItems(source()));
        expect(found.map((located) => canonicalJson(located.item))).toEqual(
          items.map((value) => canonicalJson(parseItem(value))),
        );
      }),
    );
  });

  it('pulls items when its chunks are pulled, and closes their source', async () => {
    let pulled = 0;
    let closed = false;
    function* items(): Generator<{ text: string }> {
      try {
        for (;;) {
          pulled++;
          yield { text: 'x'.repeat(1000) };
        }
      } finally {
        closed = true;
      }
    }
    for await (const chunk of writeItems(items())) {
      expect(chunk.length).toBeGreaterThanOrEqual(64 * 1024);
      expect(chunk.length).toBeLessThan(66 * 1024);
      expect(chunk.at(-1)).toBe(10);
      expect(pulled).toBeLessThan(70);
      break;
    }
    expect(closed).toBe(true);
  });

  it('rethrows errors of the source', async () => {
    expect(await rejectionOf(collect(writeItems([{ a: Number.NaN }])))).toMatchObject({
      code: 'invalid_json',
    });
  });
});
