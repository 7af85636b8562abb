import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonPart, splitJsonItems } from './split-json-items.ts';

async function* inPieces(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function split(text: string | Uint8Array, size = 7, maxValueBytes = 10_000): Promise<JsonPart[]> {
  const parts: JsonPart[] = [];
  for await (const part of splitJsonItems(inPieces(text, size), {
    file: 'x.json',
    maxValueBytes,
    maxDepth: 256,
  }))
    parts.push(part);
  return parts;
}

const short = (parts: JsonPart[]) =>
  parts.map((part) => {
    if (part.kind === 'items') return `[${part.section ?? ''}`;
    if (part.kind === 'item')
      return `${part.section ?? ''}:${part.text}@${part.location.line}:${part.location.column}`;
    return `${part.section ?? ''}.${part.key}=${JSON.stringify(part.value)}`;
  });

describe('splitJsonItems', () => {
  it.each([
    ['an array', ' [{"a":1},\n {"b":"]"}]\n', ['[', ':{"a":1}@1:3', ':{"b":"]"}@2:2']],
    [
      'an object with items',
      '{"name":"n","items":[{}, {"ü":"😀"},{}],"more":[1]}',
      ['.name="n"', '[', ':{}@1:22', ':{"ü":"😀"}@1:26', ':{}@1:37', '.more=[1]'],
    ],
    [
      'sections',
      '{"sections":[{"name":"a","items":[{"x":1}]},{"items":[],"name":"b"},{"name":"c"},5]}',
      ['0.name="a"', '[0', '0:{"x":1}@1:35', '[1', '1.name="b"', '2.name="c"', '3.=5'],
    ],
    ['a BOM', '\ufeff[{}]', ['[', ':{}@1:2']],
    ['items that are not a list', '{"items":{"a":1},"sections":5}', ['.items={"a":1}', '.sections=5']],
    ['an empty list of items', '{"items":[]}', ['[']],
    ['elements that are not items', '[1,"a",[{}],null]', []],
    ['an empty array', '[]', []],
    ['a word', ' true ', []],
    ['a number', '-1.5e3', []],
  ])('%s', async (_, text, expected) => {
    for (const size of [1, 2, 3, 1000]) expect(short(await split(text, size))).toEqual(expected);
  });

  it.each([
    ['a comma too many', '[{},]', 1, 5],
    ['a missing comma', '[{} {}]', 1, 5],
    ['a missing end', '[{}', 1, 4],
    ['an item cut off', '[{"a":', 1, 7],
    ['two values', '{}\n{}', 2, 1],
    ['a duplicate key', '{"a":1,\n"a":2}', 2, 1],
    ['no key', '{1:2}', 1, 2],
    ['a bad member', '{"a":\n nul}', 2, 2],
    ['nothing', '  ', 1, 3],
    ['something else', 'hello', 1, 1],
    ['a bad byte', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 1, 3],
  ])('refuses %s', async (_, text, line, column) => {
    await expect(split(text)).rejects.toMatchObject({
      code: 'package_invalid_json',
      entry: 'x.json',
      location: { file: 'x.json', line, column },
    });
  });

  it('refuses an item over the limit while it is read', async () => {
    await expect(split(`[{"a":"${'x'.repeat(50)}"}]`, 7, 40)).rejects.toMatchObject({
      code: 'package_limit',
    });
  });

  it('gives every item of any array of objects', async () => {
    const items = fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        items,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 3 }),
        async (given, size, indent) => {
          const parts = await split(JSON.stringify(given, null, indent), size, 1_000_000);
          const found = parts.flatMap((part) => (part.kind === 'item' ? [JSON.parse(part.text)] : []));
          expect(JSON.stringify(found)).toBe(JSON.stringify(given));
        },
      ),
    );
  });
});
