import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import {
  anyText,
  collect,
  item,
  rejectionOf,
  spellDifferently,
  streamIn,
  streamOf,
  thrownBy,
} from '../../test/arbitrary-json.ts';
import { JsonlError } from '../errors.ts';
import { parseItem } from '../item/parse-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { splitLines } from './line-cutter.ts';
import { type LocatedItem, parseLines, readItems } from './read-items.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Everything that is read up to the end or the error, in a form that can be compared. */
async function outcome(bytes: Uint8Array, size: number): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const { item: found, location } of readItems(streamIn(bytes, size), { file: 'f' })) {
      seen.push([canonicalJson(found), location.line]);
    }
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    seen.push([error.code, error.message, error.location]);
  }
  return seen;
}

describe('readItems', () => {
  it('yields items with their file and line', async () => {
    const text = '\ufeff{"id":1}\r\n\n \t\r\n{"id":2}\n  {"id":3}  ';
    expect(await collect(readItems(streamOf(text), { file: 'a.jsonl' }))).toEqual([
      { item: { id: 1 }, location: { file: 'a.jsonl', line: 1 } },
      { item: { id: 2 }, location: { file: 'a.jsonl', line: 4 } },
      { item: { id: 3 }, location: { file: 'a.jsonl', line: 5 } },
    ]);
    expect(await collect(readItems(streamOf('{}')))).toEqual([{ item: {}, location: { line: 1 } }]);
    expect(await collect(readItems(streamOf('')))).toEqual([]);
  });

  it.each<[string, string | Uint8Array, Partial<JsonlError>]>([
    [
      'broken JSON',
      '{}\n\n{"a":1,}\n',
      { code: 'invalid_json', location: { file: 'f', line: 3, column: 8, path: '' } },
    ],
    [
      'a value in a field',
      '{"a":[0,x]}',
      { code: 'invalid_json', location: { file: 'f', line: 1, column: 9, path: '/a/1' } },
    ],
    ['two values', '{}{}\n', { code: 'invalid_json', location: { file: 'f', line: 1, column: 3, path: '' } }],
    [
      'old line ends',
      '{}\r{}\r',
      { code: 'invalid_json', location: { file: 'f', line: 1, column: 4, path: '' } },
    ],
    [
      'a repeated key',
      '{}\n{"a":1,"a":2}',
      { code: 'duplicate_key', location: { file: 'f', line: 2, column: 8, path: '' } },
    ],
    ['an array', '{}\n[]\n', { code: 'not_an_object', location: { file: 'f', line: 2, path: '' } }],
    ['null', 'null', { code: 'not_an_object', location: { file: 'f', line: 1, path: '' } }],
    ['a wrong type', '{"tags":1}', { code: 'invalid_item', location: { file: 'f', line: 1, path: '/tags' } }],
    [
      'a wrong asset',
      '{"assets":["x"]}',
      { code: 'invalid_asset', location: { file: 'f', line: 1, path: '/assets/0' } },
    ],
    [
      'a line of a form feed',
      '{}\n\f\n',
      { code: 'invalid_json', location: { file: 'f', line: 2, column: 1, path: '' } },
    ],
    [
      'a line of a no-break space',
      '\u00a0\n',
      { code: 'invalid_json', location: { file: 'f', line: 1, column: 1, path: '' } },
    ],
    [
      'a byte order mark elsewhere',
      '{}\n\ufeff{}',
      { code: 'invalid_json', location: { file: 'f', line: 2, column: 1, path: '' } },
    ],
    [
      'UTF-16',
      Uint8Array.from([0xff, 0xfe, 0x7b, 0x00]),
      {
        code: 'invalid_utf8',
        message: 'Byte FF is not valid UTF-8',
        location: { file: 'f', line: 1, column: 1 },
      },
    ],
    [
      'Latin-1',
      Uint8Array.from([...encode('{}\n{"é":"'), 0xe9, 0x22, 0x7d]),
      {
        code: 'invalid_utf8',
        message: 'Byte E9 is not valid UTF-8',
        location: { file: 'f', line: 2, column: 7 },
      },
    ],
    [
      'a character that is cut off',
      encode('{}\n"€').subarray(0, -1),
      { code: 'invalid_utf8', location: { file: 'f', line: 2, column: 2 } },
    ],
    ['too many levels', `{"a":${'['.repeat(256)}`, { code: 'nesting_too_deep' }],
    [
      'a number that is too long',
      '{"a":1e1000}',
      { code: 'number_too_long', location: { file: 'f', line: 1, column: 6, path: '/a' } },
    ],
  ])('refuses %s', async (_, text, expected) => {
    expect(await rejectionOf(collect(readItems(streamOf(text), { file: 'f' })))).toMatchObject(expected);
  });

  it.each<[string, readonly (string | Uint8Array)[], string, number]>([
    ['in a text', ['{}\n{"a":"é\ud800"}\n'], 'D800', 8],
    ['in a key', ['{}\n{"\udfff":1}\n'], 'DFFF', 3],
    ['two in the wrong order', ['{}\n{"a":"\udc00\ud800"}\n'], 'DC00', 7],
    ['at the end of a chunk', ['{}\n{"a":"\udbff', '\ud801"}\n'], 'DBFF', 7],
    ['before bytes', ['{}\n{"a":"\udbff', encode('"}')], 'DBFF', 7],
    ['at the end of the file', ['{}\n{"a":"\ud8ab'], 'D8AB', 7],
  ])('refuses a lone surrogate: %s', async (_, chunks, shown, column) => {
    const seen: LocatedItem[] = [];
    const error = await rejectionOf(
      (async () => {
        for await (const located of readItems(chunks, { file: 'f' })) seen.push(located);
      })(),
    );
    expect(error).toMatchObject({
      code: 'invalid_utf8',
      message: `The lone surrogate U+${shown} is not valid UTF-8`,
      location: { file: 'f', line: 2, column },
    });
    expect(seen).toHaveLength(1);
  });

  it('reads a surrogate as its escape, and a pair in two chunks', async () => {
    const [first, second] = await collect(readItems(['{"a":"\\ud800"}\n{"a":"\ud83d', '\ude00"}']));
    expect([first?.item['a'], second?.item['a']]).toEqual(['\ud800', '\u{1f600}']);
  });

  it('applies its options', async () => {
    const line = `{"a":${'['.repeat(9)}${']'.repeat(9)}}`;
    expect(
      await collect(readItems(streamOf(line), { maxDepth: 10, maxLineBytes: line.length })),
    ).toHaveLength(1);
    expect(await rejectionOf(collect(readItems(streamOf(line), { maxDepth: 9 })))).toMatchObject({
      code: 'nesting_too_deep',
    });
    expect(
      await rejectionOf(collect(readItems(streamOf(line), { maxLineBytes: line.length - 1 }))),
    ).toMatchObject({ code: 'line_too_long' });
  });

  it('yields the items before a faulty line first', async () => {
    const seen: LocatedItem[] = [];
    const source = streamOf('{"id":1}\n{"id":2}\n', Uint8Array.from([0x80]), '\n{"id":3}\n');
    const error = await rejectionOf(
      (async () => {
        for await (const located of readItems(source)) seen.push(located);
      })(),
    );
    expect(error).toMatchObject({ code: 'invalid_utf8', location: { line: 3, column: 1 } });
    expect(seen.map((located) => located.item['id'])).toEqual([1, 2]);
  });

  it('stops between two items when it is aborted', async () => {
    const controller = new AbortController();
    const items = readItems(streamOf('{}\n{}\n{}\n'), { signal: controller.signal });
    await items.next();
    controller.abort(new Error('enough'));
    expect(await rejectionOf(items.next())).toMatchObject({ message: 'enough' });
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it('yields the same wherever the stream is cut', async () => {
    const line = fc.oneof(
      item.map(spellDifferently),
      fc.constantFrom('', ' \t', '{"a":"é😀"}', '{', '[]', '\ufeff', '{"a":1,"a":1}'),
    );
    const end = fc.constantFrom('\n', '\r\n');
    const file = fc
      .tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.tuple(line, end), { maxLength: 6 }))
      .map(
        ([start, lines]) =>
          start + lines.map(([text, lineEnd]) => text.replaceAll('\r', '') + lineEnd).join(''),
      );
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 9 }), async (text, size) => {
        const bytes = encode(text);
        expect(await outcome(bytes, size)).toEqual(await outcome(bytes, bytes.length));
      }),
    );
  });

  it('throws only JsonlError, for any bytes', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      anyText.map(encode),
      // A good line with some of its bytes changed.
      fc
        .tuple(item.map(spellDifferently), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }))
        .map(([text, changes]) => {
          const changed = encode(text);
          for (const [at, byte] of changes) changed[at % changed.length] = byte;
          return changed;
        }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => {
        await outcome(content, 7);
      }),
      { numRuns: times(1000, 200) },
    );
  });
});

describe('parseLines', () => {
  it('reads the items of a batch, with the lines of the file', async () => {
    const found: LocatedItem[] = [];
    for await (const batch of splitLines(streamOf('{"id":0}\n\n{"id":2}\n{"id":3}'), { batchBytes: 10 })) {
      const items = parseLines(batch, { file: 'f' });
      expect(items).toHaveLength(batch.itemCount);
      found.push(...items);
    }
    expect(found.map(({ item: { id }, location: { line } }) => [id, line])).toEqual([
      [0, 1],
      [2, 3],
      [3, 4],
    ]);
  });

  it('throws at the first line with invalid bytes or JSON', async () => {
    const [batch] = await collect(splitLines(streamOf('{}\n{x\n', Uint8Array.from([0xff]))));
    expect(thrownBy(() => parseLines(batch as never))).toMatchObject({
      code: 'invalid_json',
      location: { line: 2 },
    });
  });

  it('normalises items', () => {
    const bytes = encode('{"assets":["data:,a"]}');
    const [located] = parseLines({ bytes, firstLine: 1, lineCount: 1, itemCount: 1 });
    expect(located?.item).toEqual(parseItem({ assets: ['data:,a'] }));
  });
});
