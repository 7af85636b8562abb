import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../test/arbitrary-json.ts';
import { JsonlError } from '../errors.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { compileMapping, type MappableFeature } from './compile-mapping.ts';
import type { Mapping } from './mapping.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUg==';
const JPEG = '/9j/4AAQSkZJRgABAQ==';

const featuresOf = (row: JsonObject): MappableFeature[] =>
  Object.keys(row).map((name) => ({ name, dtype: 'string' }));
const map = (mapping: Partial<Mapping>, row: JsonObject, rowIndex = 0): JsonObject =>
  compileMapping({ promptColumn: 'q', ...mapping }, featuresOf({ q: '', ...row }))(
    { q: 'Q', ...row },
    rowIndex,
  );

describe('compileMapping', () => {
  it('maps a row to an item', () => {
    const row = {
      question: 'Which?',
      answer: 'B',
      context: 'Be brief.',
      options: ['x', 'y'],
      rubric: ['one', null, { two: 2 }],
      hint: 'three',
      files: { a: 'https://example.org/a.png' },
      uid: 'u-1',
      source: 'web',
      year: 2020,
      unused: 'x',
    };
    const toItem = compileMapping(
      {
        promptColumn: 'question',
        answerColumn: 'answer',
        systemPromptColumn: 'context',
        choicesColumn: 'options',
        criteriaColumns: ['hint', 'rubric'],
        assetsColumn: 'files',
        idColumn: 'uid',
        metaColumns: ['source', 'year'],
        defaultType: 'multiple_choice',
      },
      featuresOf(row),
      { split: 'test' },
    );
    expect(toItem(row, 7)).toEqual({
      id: 'u-1',
      type: 'multiple_choice',
      inputs: { prompt: 'Which?', system_prompt: 'Be brief.', choices: ['x', 'y'] },
      answer: 'B',
      criteria: ['three', 'one', { two: 2 }],
      assets: { a: { url: 'https://example.org/a.png' } },
      meta: { source: 'web', year: 2020 },
    });
  });

  it('needs only a prompt column', () => {
    expect(map({}, {}, 12)).toEqual({ id: 'train-12', type: 'freeform', inputs: { prompt: 'Q' } });
  });

  it('builds ids from the split and the row index', () => {
    const toItem = compileMapping({ promptColumn: 'q' }, [{ name: 'q', dtype: 'string' }], { split: 'test' });
    expect(toItem({ q: 'x' }, 0)['id']).toBe('test-0');
    expect(toItem({ q: 'x' }, 3, 'validation')['id']).toBe('validation-3');
  });

  it.each<[string, JsonValue, JsonObject]>([
    ['text', 'What?', { prompt: 'What?' }],
    ['empty text', '', { prompt: '' }],
    [
      'text that looks like messages',
      '[{"role":"user","content":"x"}]',
      { prompt: '[{"role":"user","content":"x"}]' },
    ],
    ['messages', [{ role: 'user', content: 'hi' }], { messages: [{ role: 'user', content: 'hi' }] }],
    [
      'messages with more keys and any content',
      [
        { role: 'system', content: null, name: 'n' },
        { role: 'user', content: [{ type: 'text' }] },
      ],
      {
        messages: [
          { role: 'system', content: null, name: 'n' },
          { role: 'user', content: [{ type: 'text' }] },
        ],
      },
    ],
    ['an empty list', [], { prompt: '[]' }],
    ['a list of words', ['b', 'a'], { prompt: '["b","a"]' }],
    ['messages without content', [{ role: 'user' }], { prompt: '[{"role":"user"}]' }],
    [
      'messages with a role of no name',
      [{ role: null, content: 'x' }],
      { prompt: '[{"content":"x","role":null}]' },
    ],
    [
      'an object',
      { b: 1, a: new ExactNumber('9007199254740993') },
      { prompt: '{"a":9007199254740993,"b":1}' },
    ],
    ['a number', 1.5, { prompt: '1.5' }],
    ['an exact number', new ExactNumber('9007199254740993'), { prompt: '9007199254740993' }],
    ['false', false, { prompt: 'false' }],
  ])('prompt: %s', (_, cell, inputs) => {
    expect(map({}, { q: cell })['inputs']).toEqual(inputs);
  });

  it.each<[JsonValue, JsonValue]>([
    ['u', 'u'],
    ['', ''],
    [5, 5],
    [5.0, 5],
    [new ExactNumber('12345678901234567890'), new ExactNumber('12345678901234567890')],
    [1.5, '1.5'],
    [new ExactNumber('0.12345678901234567890123'), '0.12345678901234567890123'],
    [true, 'true'],
    [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
  ])('id: %j becomes %j', (cell, id) => {
    expect(map({ idColumn: 'x' }, { x: cell })['id']).toEqual(id);
  });

  it.each<[JsonValue, JsonValue]>([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['["a"]', ['a']],
    ['a', ['a']],
    [{ text: ['x'], label: ['A'] }, [{ label: 'A', text: 'x' }]],
  ])('choices: %j become %j, and the type stays', (cell, choices) => {
    expect(map({ choicesColumn: 'x' }, { x: cell })).toMatchObject({
      type: 'freeform',
      inputs: { prompt: 'Q', choices },
    });
  });

  it.each<[string, JsonValue[], JsonValue[] | undefined]>([
    ['words', ['a', 'b'], ['a', 'b']],
    ['objects', [{ a: 1 }, 'b'], [{ a: 1 }, 'b']],
    ['arrays are spread', [['a', 'b'], 'c'], ['a', 'b', 'c']],
    ['nulls are skipped', [null, ['a', null, 'c']], ['a', 'c']],
    ['an empty array is a list of none', [[], null], []],
    ['all null', [null, null], undefined],
    ['other values are JSON text', [5, [true, [1, 2]]], ['5', 'true', '[1,2]']],
  ])('criteria: %s', (_, cells, criteria) => {
    const [x, y] = cells as [JsonValue, JsonValue];
    expect(map({ criteriaColumns: ['x', 'y'] }, { x, y })['criteria']).toEqual(criteria);
  });

  it.each<[string, JsonValue, JsonValue | undefined]>([
    [
      'an object',
      { a: `data:image/png;base64,${PNG}` },
      { a: { mime_type: 'image/png', encoding: 'base64', data: PNG } },
    ],
    ['an object in a string', ' {"a":"https://x.org"}', { a: { url: 'https://x.org' } }],
    [
      'an image',
      { bytes: PNG, path: null },
      { x: { mime_type: 'image/png', encoding: 'base64', data: PNG } },
    ],
    [
      'an image with a lying name',
      { bytes: JPEG, path: 'a.png' },
      { x: { mime_type: 'image/jpeg', encoding: 'base64', data: JPEG } },
    ],
    [
      'an image without a path',
      { bytes: JPEG },
      { x: { mime_type: 'image/jpeg', encoding: 'base64', data: JPEG } },
    ],
    [
      'a file known by its name',
      { bytes: 'YSxi', path: 'dir/a.CSV' },
      { x: { mime_type: 'text/csv', encoding: 'base64', data: 'YSxi' } },
    ],
    [
      'a file of no known kind',
      { bytes: '', path: null },
      { x: { mime_type: 'application/octet-stream', encoding: 'base64', data: '' } },
    ],
    ['no image', { bytes: null, path: null }, undefined],
    [
      'an object that only looks like an image',
      { bytes: 'https://x.org', path: {} },
      { bytes: { url: 'https://x.org' }, path: {} },
    ],
    ['null', null, undefined],
  ])('assets: %s', (_, cell, assets) => {
    expect(map({ assetsColumn: 'x' }, { x: cell })['assets']).toEqual(assets);
  });

  it.each<[string, JsonValue]>([
    ['an array', [{ url: 'https://x.org' }]],
    ['an array of images', [{ bytes: PNG, path: null }]],
    ['a word', 'https://x.org/a.png'],
    ['a JSON array in a string', '[]'],
    ['null in a string', 'null'],
    ['a number', 5],
    ['an exact number', new ExactNumber('9007199254740993')],
    ['an image without its bytes', { bytes: null, path: 'a.png' }],
  ])('refuses assets that are %s', (_, cell) => {
    const error = thrownBy(() => map({ assetsColumn: 'x' }, { x: cell }, 4));
    expect(error).toBeInstanceOf(JsonlError);
    expect(error).toMatchObject({ code: 'assets_not_object', location: { row: 4 } });
    expect((error as Error).message).toMatch(
      /^Column x must hold an object of assets, got .* in dataset row 4$/,
    );
  });

  it('omits the key of a null cell, except for the prompt', () => {
    const row = { a: null, s: null, c: null, k: null, f: null, i: null, m: null };
    const mapping = {
      answerColumn: 'a',
      systemPromptColumn: 's',
      choicesColumn: 'c',
      criteriaColumns: ['k'],
      assetsColumn: 'f',
      idColumn: 'i',
      metaColumns: ['m'],
    };
    expect(map(mapping, row)).toEqual({ type: 'freeform', inputs: { prompt: 'Q' } });
    expect(map(mapping, { ...row, m: 0, a: false })).toEqual({
      type: 'freeform',
      inputs: { prompt: 'Q' },
      answer: false,
      meta: { m: 0 },
    });
  });

  it('refuses a null prompt with its row', () => {
    const error = thrownBy(() => map({}, { q: null }, 17));
    expect(error).toMatchObject({
      code: 'invalid_row',
      message: 'Column q is null in dataset row 17',
      location: { row: 17 },
    });
  });

  it('keeps answers and meta as they are', () => {
    const cell = parseJson('{"b":[12345678901234567890,null],"__proto__":1}');
    const item = map({ answerColumn: 'x', metaColumns: ['x', '__proto__'] }, { x: cell, ['__proto__']: 'p' });
    expect(canonicalJson(item)).toContain('"answer":{"__proto__":1,"b":[12345678901234567890,null]}');
    expect(canonicalJson(item)).toContain(
      '"meta":{"__proto__":"p","x":{"__proto__":1,"b":[12345678901234567890,null]}}',
    );
  });

  it.each<[string, Partial<Mapping>, string]>([
    ['prompt', { promptColumn: 'none' }, 'none'],
    ['answer', { answerColumn: 'none' }, 'none'],
    ['system prompt', { systemPromptColumn: 'none' }, 'none'],
    ['choices', { choicesColumn: 'none' }, 'none'],
    ['assets', { assetsColumn: 'none' }, 'none'],
    ['id', { idColumn: 'none' }, 'none'],
    ['criteria', { criteriaColumns: ['q', 'none'] }, 'none'],
    ['meta', { metaColumns: ['toString'] }, 'toString'],
  ])('refuses an unknown %s column before the first row', (_, mapping, column) => {
    const compile = (): unknown =>
      compileMapping({ promptColumn: 'q', ...mapping }, [{ name: 'q', dtype: 'string' }]);
    const error = thrownBy(compile);
    expect(error).toBeInstanceOf(JsonlError);
    expect(error).toMatchObject({
      code: 'column_not_found',
      message: `Column ${column} not found in dataset row`,
      location: {},
    });
  });

  it.each(['x', 'toString', '__proto__'])('refuses a row without the column %s', (column) => {
    const toItem = compileMapping(
      { promptColumn: 'q', metaColumns: [column] },
      featuresOf({ q: '', [column]: '' }),
    );
    expect(thrownBy(() => toItem({ q: 'Q' }, 3))).toMatchObject({
      code: 'column_not_found',
      message: `Column ${column} not found in dataset row`,
      location: { row: 3 },
    });
  });

  it.each<[object, string]>([
    [{ prompt_column: 'q' }, 'A mapping must not have the member "prompt_column"'],
    [{ promptColumn: 'q', answercolumn: 'a' }, 'A mapping must not have the member "answercolumn"'],
    [{}, 'A mapping must have promptColumn or promptTemplate'],
    [{ promptColumn: null }, 'A mapping must have promptColumn or promptTemplate'],
    [
      { promptColumn: 'q', promptTemplate: '{q}' },
      'A mapping must not have both promptColumn and promptTemplate',
    ],
    [
      { promptColumn: 'q', answerColumn: 'q', answerIs: 'index' },
      'A mapping with answerIs index must have choicesColumn or choicesColumns',
    ],
  ])('refuses the mapping %j', (mapping, message) => {
    expect(
      thrownBy(() => compileMapping(mapping as Mapping, [{ name: 'q', dtype: 'string' }])),
    ).toMatchObject({ code: 'invalid_mapping', message });
  });

  it('maps columns to other keys of meta', () => {
    const metaColumns = JSON.parse('{"difficulty":"level","__proto__":"level","level":"m"}');
    const item = map({ metaColumns }, { level: 3, m: 'x' });
    expect(canonicalJson(item['meta'] as JsonValue)).toBe('{"__proto__":3,"difficulty":3,"level":"x"}');
  });

  it.each<Partial<Mapping>>([{ promptColumn: '' }, { metaColumns: [''] }, { metaColumns: { x: '' } }])(
    'refuses the empty name in %j',
    (mapping) => {
      const error = thrownBy(() =>
        compileMapping({ promptColumn: 'q', ...mapping }, [{ name: 'q', dtype: 'string' }]),
      );
      expect(error).toMatchObject({ code: 'invalid_mapping' });
    },
  );

  it('keeps a column without a name', () => {
    const row = { q: 'Q', '': 7 };
    const toItem = compileMapping({ promptColumn: 'q', keepUnmapped: true }, featuresOf(row));
    expect(toItem(row, 0)).toMatchObject({ inputs: { prompt: 'Q' }, meta: { '': 7 } });
  });

  it.each<[string, Partial<Mapping>, JsonValue, RegExp]>([
    [
      'choices of no known form',
      { choicesColumn: 'x' },
      { A: ['a'], B: 'b' },
      /^Column x must hold labels with texts, or two or more arrays of equal length, when it holds an object, in dataset row 2$/,
    ],
    [
      'an asset that is none',
      { assetsColumn: 'x' },
      { a: 5 },
      /^Row 2 does not map to a valid item: \/assets\/a must be an object or a string, got the number 5$/,
    ],
    [
      'a judge prompt that is not a string',
      { metaColumns: ['judge_prompt'] },
      5,
      /^Row 2 does not map to a valid item: \/meta\/judge_prompt must be a string or null, got the number 5$/,
    ],
    [
      'a value that is nested too deep',
      { answerColumn: 'x' },
      parseJson('['.repeat(256) + ']'.repeat(256)),
      /^Row 2 is nested more than 256 levels deep$/,
    ],
  ])('refuses %s', (_, mapping, cell, message) => {
    const row = { x: cell, judge_prompt: cell };
    const error = thrownBy(() => map(mapping, row, 2));
    expect(error).toMatchObject({ code: 'invalid_row', location: { row: 2 } });
    expect((error as Error).message).toMatch(message);
  });

  it('does not change the row', () => {
    const row = { q: ['x'], f: { a: { content_type: 'image/png', data: PNG } }, k: ['a', null] };
    const before = JSON.stringify(row);
    map({ assetsColumn: 'f', criteriaColumns: ['k'], answerColumn: 'f' }, row);
    expect(JSON.stringify(row)).toBe(before);
  });
});
