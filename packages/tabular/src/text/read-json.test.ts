import { canonicalJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoaderParams } from './raw-row.ts';
import { readJson } from './read-json.ts';

async function* pieces(content: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}
async function read(
  content: string | Uint8Array,
  params: LoaderParams = {},
  size = 1 << 16,
  maxRowSize = 2000,
): Promise<string[]> {
  const rows: string[] = [];
  const options = { file: 'a.json', maxRowSize };
  for await (const { row } of readJson(pieces(content, size), params, options)) rows.push(canonicalJson(row));
  return rows;
}

describe('readJson', () => {
  it.each<[string, string, string[]]>([
    ['JSON Lines', '{"x":1}\n\n{"x":12345678901234567890}\n', ['{"x":1}', '{"x":12345678901234567890}']],
    ['JSON Lines with CRLF and no last end', '{"x":1}\r\n \t\r\n{"x":2}', ['{"x":1}', '{"x":2}']],
    ['a byte order mark', '\uFEFF{"x":1}\n{"x":2}', ['{"x":1}', '{"x":2}']],
    ['a byte order mark before an array', '\uFEFF [{"x":1}]', ['{"x":1}']],
    ['one line', '{"x":1}', ['{"x":1}']],
    ['an array of objects', '[{"x":1},\n {"x":"]}"}]\n', ['{"x":1}', '{"x":"]}"}']],
    ['an empty array', ' [ ] ', []],
    ['an array of texts', '["a","\\"b,"]', ['{"text":"a"}', '{"text":"\\"b,"}']],
    ['an array of numbers and null', '[1 , null,-2.50]', ['{"text":1}', '{"text":null}', '{"text":-2.5}']],
    ['an array of arrays', '[[1,2],[]]', ['{"text":[1,2]}', '{"text":[]}']],
    ['one object over several lines', '{\n "x": {\n"y": [1]}\n}\n', ['{"x":{"y":[1]}}']],
    ['objects one after another', '{\n"x":1}{"x":2}\n\n{"x"\n:3}', ['{"x":1}', '{"x":2}', '{"x":3}']],
    ['an object of columns as one row', '{"x":[1,2],"y":["a","b"]}', ['{"x":[1,2],"y":["a","b"]}']],
    [
      'NaN and infinities as null',
      '{"x":NaN,"y":[-Infinity,Infinity]}\n{"x":"NaN \\" Infinity","y":1}\n',
      ['{"x":null,"y":[null,null]}', '{"x":"NaN \\" Infinity","y":1}'],
    ],
    ['NaN inside arrays and objects', '[{"x":NaN},\n{"x": -Infinity}]', ['{"x":null}', '{"x":null}']],
    ['nothing', '', []],
    ['blanks', ' \n\n', []],
  ])('reads %s', async (_, content, rows) => {
    for (const size of [1 << 16, 1, 7]) expect(await read(content, {}, size)).toEqual(rows);
  });

  it.each<[string, string, string[]]>([
    ['an array', '{"v":{"data":[1]},"data":[{"x":1},{"x":2}],"z":1}', ['{"x":1}', '{"x":2}']],
    ['an object', '{"a":"}","data":{"x":[1]}}', ['{"x":[1]}']],
  ])('reads the field that holds %s', async (_, content, rows) => {
    for (const size of [1 << 16, 1]) expect(await read(content, { field: 'data' }, size)).toEqual(rows);
  });

  it('passes over a member of any size on its way to the field', async () => {
    expect(await read(`{"big":"${'x'.repeat(10_000)}","data":[{"x":1}]}`, { field: 'data' })).toEqual([
      '{"x":1}',
    ]);
  });

  it('reads other encodings', async () => {
    const bytes = new Uint8Array([...'{"x":"'].map((c) => c.charCodeAt(0)).concat(0xe9, 34, 125, 10));
    expect(await read(bytes, { encoding: 'latin1' })).toEqual(['{"x":"é"}']);
  });

  it.each<[string, string | Uint8Array, object]>([
    ['a line that is cut off', '{"x":1}\n{"x":\n{"x":2}\n', { line: 2, column: 6 }],
    ['a line that is not an object', '{"x":1}\n[1]\n', { line: 2 }],
    ['a repeated key', '{"x":1}\n{"y":1,"y":2}\n', { line: 2, column: 8 }],
    ['a line that is not UTF-8', new Uint8Array([123, 125, 10, 34, 0xff, 34, 10]), { line: 2, column: 2 }],
    ['a line that is too long', `{"x":1}\n{"x":"${'x'.repeat(3000)}"}\n`, { line: 2 }],
    ['a bad first line', '{"x":nope}\n{"x":1}\n', { line: 1, column: 6 }],
    ['a repeated key in the first line', '{"x":1,"x":2}\n', { line: 1 }],
    ['a fault inside an array', '[{"x":1},\n  {"x":\n   tru}]', { line: 3, column: 4 }],
    ['a fault in the first line of an element', '[{"x":1}, {"x":,}]', { line: 1, column: 16 }],
    ['an array that ends early', '[{"x":1},\n{"x":2}', { line: 2 }],
    ['a comma too many', '[{"x":1},]', { line: 1, column: 10 }],
    ['a comma too many in an object over several lines', '{\n"x":1,\n}\n', { line: 3, column: 1 }],
    ['a comma too few', '[{"x":1}\n{"x":2}]', { line: 2, column: 1 }],
    ['data after the array', '[]\nx', { line: 2, column: 1 }],
    ['other values among objects', '[{"x":1},\n5]', { line: 2, column: 1 }],
    ['an element that is too long', `[{"x":1},\n{"x":"${'x'.repeat(3000)}"}]`, { line: 2 }],
    ['a text that never ends', '{\n"x": "abc', { line: 1 }],
    ['a bare value', '5', { line: 1 }],
    ['a fault next to NaN', '{"x":1}\n{"x":NaN,"y":}\n', { line: 2 }],
    ['words that begin like NaN', '{"x":NaNs}\n', { line: 1 }],
    ['a sign before NaN', '{"x":-NaN}\n', { line: 1 }],
  ])('refuses %s', async (_, content, location) => {
    for (const size of [1 << 16, 1]) {
      await expect(read(content, {}, size)).rejects.toMatchObject({
        code: 'invalid_row',
        location: { file: 'a.json', ...location },
      });
    }
  });

  it.each(['[1]', '{"x":1}', '{"x":1,', '{"x" 1}'])('does not find a field in %s', async (content) => {
    await expect(read(content, { field: 'data' })).rejects.toMatchObject({ code: 'invalid_row' });
  });

  it('reads any rows the same from all forms', async () => {
    const row = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 50 }),
        async (rows, size) => {
          const lines = await read(rows.map((each) => JSON.stringify(each)).join('\n'), {}, size, 1e6);
          expect(await read(JSON.stringify(rows), {}, size, 1e6)).toEqual(lines);
          expect(await read(JSON.stringify(rows, null, 2), {}, size, 1e6)).toEqual(lines);
          expect(
            await read(rows.map((each) => JSON.stringify(each, null, 1)).join(' '), {}, size, 1e6),
          ).toEqual(lines);
          expect(await read(JSON.stringify({ a: [{}], data: rows }), { field: 'data' }, size, 1e6)).toEqual(
            lines,
          );
          expect(lines.length).toBe(rows.length);
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each(['{"x":1}\n'.repeat(10), `[${'{"x":1},'.repeat(10)}{}]`])(
    'closes its source when reading stops',
    async (content) => {
      let closed = false;
      async function* source(): AsyncGenerator<Uint8Array> {
        try {
          yield* pieces(content, 4);
        } finally {
          closed = true;
        }
      }
      for await (const _ of readJson(source(), {}, { file: 'a.json' })) break;
      expect(closed).toBe(true);
    },
  );
});
