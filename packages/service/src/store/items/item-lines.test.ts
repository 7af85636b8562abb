import { type ItemParts, joinItem } from '@svc/jsonl-v23';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { COPY_HEADER, COPY_TRAILER, cutLongRows, rowParts } from '../database/copy-format.ts';
import { ItemOrder } from './decode-rows.ts';
import { type ItemLine, toLines } from './item-lines.ts';

const bytesOf = (text: string | null): Uint8Array | null => (text === null ? null : Buffer.from(text));

/** What the server sends for items, in chunks of these sizes, in turn. */
async function* copyOf(items: readonly ItemParts[], sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const rows = items.flatMap(({ answer, checker, assets, payload }, index) => [
    ...rowParts([
      ...[0, index, new Uint8Array(32), bytesOf(answer), bytesOf(checker), bytesOf(assets), null],
      bytesOf(payload),
    ]),
  ]);
  const bytes = Buffer.concat([COPY_HEADER, ...rows, COPY_TRAILER]);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function linesOf(items: readonly ItemParts[], sizes: readonly number[]): Promise<string> {
  const section = { id: '', name: 'a', orderIndex: 0, itemCount: items.length };
  const order = new ItemOrder([{ ...section, sectionHash: new Uint8Array(32), exportFile: null }], 1e9);
  const parts: Uint8Array[] = [];
  const add = async (line: ItemLine): Promise<void> => {
    if (line instanceof Uint8Array) parts.push(line);
    else if (typeof line === 'string') parts.push(Buffer.from(`${line}\n`));
    else if ('payload' in line) throw new Error('no item links a file');
    else {
      for await (const piece of line) parts.push(Buffer.from(piece));
      parts.push(Buffer.from('\n'));
    }
  };
  for await (const batch of toLines(cutLongRows(copyOf(items, sizes)), order)) {
    for (const line of batch) await add(line);
  }
  return Buffer.concat(parts).toString();
}

const joined = (items: readonly ItemParts[]): string => items.map((item) => `${joinItem(item)}\n`).join('');

const key = fc.constantFrom('a', 'answers', 'b', 'assetz', 'checkers', 'id', 'ä', '𝄞', '"', '');
const part = fc.option(fc.constantFrom('"4"', 'null', '{"x":[1]}', '"ä"'), { nil: null });
const item = fc.record({
  payload: fc
    .uniqueArray(key, { maxLength: 3 })
    .map((keys) => JSON.stringify(Object.fromEntries(keys.toSorted().map((name) => [name, 1])))),
  answer: part,
  checker: part,
  assets: part,
});
const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 });

it('joins the lines of items as joinItem does, wherever the server cuts its data', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 8 }), sizes, async (items, sizes) => {
      expect(await linesOf(items, sizes)).toBe(joined(items));
    }),
  );
});

it('passes on a long item in the pieces that the server sends', async () => {
  const long = (name: string): string => `{"${name}":"${'ä'.repeat(700_000)}"}`;
  const others = { answer: '"4"', checker: null, assets: null };
  const short = { ...others, payload: '{"id":1}' };
  const items = [
    { ...others, payload: long('id') },
    short,
    { ...others, answer: null, payload: long('id') },
    // its members have to be sorted
    { ...others, payload: long('a') },
    { ...others, answer: `"${'x'.repeat(1_500_000)}"`, payload: '{}' },
    { ...others, answer: `"${'x'.repeat(1_500_000)}"`, payload: long('id') },
    short,
  ];
  for (const size of [65_536, 1_000_003, 7_000_000, 999]) {
    expect((await linesOf(items, [size])) === joined(items), `chunks of ${size} bytes`).toBe(true);
  }
  const order = new ItemOrder(
    [{ id: '', name: 'a', orderIndex: 0, itemCount: 1, sectionHash: new Uint8Array(32), exportFile: null }],
    1e9,
  );
  for await (const [line] of toLines(cutLongRows(copyOf(items.slice(0, 1), [65_536])), order)) {
    const pieces = await Array.fromAsync(line as AsyncIterable<Uint8Array>);
    expect(Math.max(...pieces.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(65_536);
  }
});
