import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { anyText, jsonValue, rejectionOf, spellDifferently, streamIn } from '../../test/arbitrary-json.ts';
import { outcomeOf } from '../../test/show-encoded.ts';
import { JsonStream, type JsonStreamOptions } from './json-stream.ts';
import { type JsonObject, type JsonValue, setMember } from './json-value.ts';
import { parseJson } from './parse-json.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function open(text: string | Uint8Array, size = 3, options?: JsonStreamOptions): JsonStream {
  return new JsonStream(streamIn(typeof text === 'string' ? utf8(text) : text, size), options);
}

/** Reads a value member by member down to `depth` levels, and whole below. */
async function readValue(json: JsonStream, depth: number): Promise<JsonValue> {
  const kind = depth === 0 ? 'null' : await json.peek();
  if (kind === 'array') {
    const values: JsonValue[] = [];
    for await (const index of json.items()) {
      expect(index).toBe(values.length);
      values.push(await readValue(json, depth - 1));
    }
    return values;
  }
  if (kind === 'object') {
    const object: JsonObject = {};
    for await (const key of json.members()) setMember(object, key, await readValue(json, depth - 1));
    return object;
  }
  return json.value();
}

async function readDocument(json: JsonStream, depth: number): Promise<unknown> {
  try {
    const value = await readValue(json, depth);
    await json.end();
    return value;
  } catch (error) {
    return failureOf(() => {
      throw error;
    });
  }
}

/** As `outcomeOf`. A message that quotes an escape may quote what follows the string: the stream has not read that. */
function failureOf(work: () => unknown): unknown {
  const outcome = outcomeOf(work) as { message?: string };
  if (typeof outcome?.message !== 'string') return outcome;
  return { ...outcome, message: outcome.message.replace(/^(Invalid escape sequence \\u).*/s, '$1') };
}

const token = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"', '\\', '\\u00e', '1', '-', '.5', 'e1', 'null', 'tru'],
  ...[' ', '\n', '\t', '\f', '\0', 'é', '😀'],
);

/** JSON, JSON with some characters replaced, and tokens in any order. */
const document = fc.oneof(
  jsonValue.map(spellDifferently),
  fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
  fc
    .tuple(jsonValue.map(spellDifferently), fc.nat(), fc.nat(2), token)
    .map(([valid, at, removed, inserted]) => {
      const position = at % (valid.length + 1);
      return valid.slice(0, position) + inserted + valid.slice(position + removed);
    }),
  fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join('')),
  anyText.map((text) => text.toWellFormed()),
);

describe('JsonStream', () => {
  it('reads and refuses what parseJson does, in chunks of any size and to any depth', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.integer({ min: 1, max: 9 }), fc.nat(4), async (text, size, depth) => {
        // The stream leaves a byte order mark out.
        if (text.startsWith('\ufeff')) return;
        const expected = failureOf(() => parseJson(text, { location: { file: 'f' } }));
        expect(await readDocument(open(text, size, { file: 'f' }), depth)).toEqual(expected);
      }),
      { numRuns: times(3000, 600) },
    );
  });

  it('gives the text of each value with its location', async () => {
    const text = '[ {"a": "]é😀"},\n  1.50 , "\\"", [[]],null]';
    for (const size of [1, 2, 5, 100]) {
      const json = open(text, size, { file: 'f' });
      const found: unknown[] = [];
      for await (const _ of json.items()) {
        const { text: value, location } = await json.text();
        found.push([value, `${location.line}:${location.column}`, location.path, location.file]);
      }
      expect(found).toEqual([
        ['{"a": "]é😀"}', '1:3', '/0', 'f'],
        ['1.50', '2:3', '/1', 'f'],
        ['"\\""', '2:10', '/2', 'f'],
        ['[[]]', '2:16', '/3', 'f'],
        ['null', '2:21', '/4', 'f'],
      ]);
    }
  });

  it('locates errors in the text of a value in the document', async () => {
    const json = open('{"a":\n [1, x]}', 2, { file: 'f' });
    for await (const _ of json.members()) {
      const { text, location } = await json.text();
      const found = outcomeOf(() => parseJson(text, { location: location }));
      expect(found).toMatchObject({ location: { file: 'f', line: 2, column: 6, path: '/a/1' } });
    }
  });

  it('skips what the body of a loop does not read', async () => {
    const text = '{"skipped":{"a":["}",{}]},"rows":[1,[2,"]"],3],"more":"x"}';
    for (const size of [1, 4, 100]) {
      const json = open(text, size);
      const found: unknown[] = [];
      for await (const key of json.members()) {
        found.push(key);
        if (key !== 'rows') continue;
        for await (const index of json.items()) if (index !== 1) found.push(await json.value());
      }
      await json.end();
      expect(found).toEqual(['skipped', 'rows', 1, 3, 'more']);
    }
  });

  it('reads several values one after another', async () => {
    const json = open('{"a":1}\n{"a":2} 3');
    const values: JsonValue[] = [];
    while ((await json.peek()) !== 'end') values.push(await json.value());
    expect(values).toEqual([{ a: 1 }, { a: 2 }, 3]);
  });

  it.each([
    ['{', 'object'],
    ['[', 'array'],
    ['"', 'string'],
    ['-', 'number'],
    ['7', 'number'],
    ['t', 'boolean'],
    ['f', 'boolean'],
    ['n', 'null'],
    ['', 'end'],
  ])('peeks at the kind of %j', async (text, kind) => {
    expect(await open(` \n${text}`).peek()).toBe(kind);
  });

  it('skips a byte order mark without counting a column', async () => {
    for (const size of [1, 2, 3, 4]) {
      const json = open('\ufeff1', size);
      expect((await json.text()).location).toMatchObject({ line: 1, column: 1 });
    }
  });

  it('accepts decoded text', async () => {
    const pieces = ['[{"a":"\ud83d', '\ude00"},\n', '', '12', '34]'];
    const json = new JsonStream(
      (async function* () {
        yield* pieces;
      })(),
    );
    expect(await readDocument(json, 1)).toEqual([{ a: '😀' }, 1234]);
  });

  it.each<[string, number[], number, number]>([
    ['in a string', [0x5b, 0x22, 0xc3, 0xa9, 0xff, 0x22, 0x5d], 1, 4],
    ['after a line', [0x5b, 0x0a, 0x31, 0x80, 0x5d], 2, 2],
    ['overlong', [0x22, 0xc0, 0xaf, 0x22], 1, 2],
    ['cut by the end', [0x22, 0x61, 0xf0, 0x9f, 0x98], 1, 3],
    ['cut by a quote', [0x22, 0xf0, 0x9f, 0x98, 0x22], 1, 2],
    ['after a byte order mark', [0xef, 0xbb, 0xbf, 0x22, 0xff, 0x22], 1, 2],
  ])('locates a byte that is not UTF-8: %s', async (_, bytes, line, column) => {
    for (const size of [1, 2, 3, 100]) {
      const json = open(Uint8Array.from(bytes), size, { file: 'f' });
      expect(await readDocument(json, 1)).toMatchObject({
        code: 'invalid_utf8',
        location: { file: 'f', line, column },
      });
    }
  });

  it('refuses a value over the limit before it is whole', async () => {
    let chunks = 0;
    async function* endless(): AsyncGenerator<string> {
      yield '[1,\n"';
      for (;;) {
        chunks++;
        yield 'x'.repeat(100);
      }
    }
    await using json = new JsonStream(endless(), { maxValueLength: 1000 });
    expect(await readDocument(json, 1)).toMatchObject({
      code: 'line_too_long',
      location: { line: 2, path: '/1' },
    });
    expect(chunks).toBeLessThan(15);
  });

  it('bounds the keys of an object, and skips a value of any length', async () => {
    const keys = open(`{${Array.from({ length: 100 }, (_, index) => `"key-${index}":0`)}}`, 7, {
      maxValueLength: 500,
    });
    expect(await readDocument(keys, 1)).toMatchObject({ code: 'line_too_long' });

    const json = open(`["${'x'.repeat(5000)}",1]`, 64, { maxValueLength: 10 });
    for await (const index of json.items()) if (index === 1) expect(await json.value()).toBe(1);
  });

  it.each(['["abc', '[[1,2', '[{"a":1'])('does not skip the value without an end in %s', async (text) => {
    const json = open(text);
    const error = await rejectionOf(
      json
        .items()
        .next()
        .then(() => json.skip()),
    );
    expect(error).toMatchObject({
      code: 'invalid_json',
      message: 'Unterminated value',
      location: { column: text.length + 1 },
    });
  });

  it('reads 100,000 small values of one chunk in linear time', async () => {
    const values = Array.from({ length: 100_000 }, (_, index) => index);
    const json = open(JSON.stringify(values), 10_000_000);
    let count = 0;
    for await (const _ of json.items()) {
      expect(await json.value()).toBe(count);
      count++;
    }
    expect(count).toBe(100_000);
  });

  it('refuses to continue after an inner loop was left early', async () => {
    const json = open('[[1,2],3]');
    const read = async (): Promise<void> => {
      for await (const _ of json.items()) for await (const _ of json.items()) break;
    };
    expect(await rejectionOf(read())).toBeInstanceOf(TypeError);
  });

  it('closes its source', async () => {
    let isClosed = false;
    async function* source(): AsyncGenerator<string> {
      try {
        yield '[1';
        yield ',2]';
      } finally {
        isClosed = true;
      }
    }
    {
      await using json = new JsonStream(source());
      expect(await json.peek()).toBe('array');
    }
    expect(isClosed).toBe(true);
  });
});
