import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../test/arbitrary-json.ts';
import { ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { compileMapping } from './compile-mapping.ts';
import type { ColumnType, Mapping } from './mapping.ts';
import { readMapping, writeMapping } from './read-mapping.ts';
import { suggestMapping } from './suggest-mapping.ts';

const featuresOf = (row: JsonObject) => Object.keys(row).map((name) => ({ name, dtype: 'string' }));
const map = (mapping: Mapping, row: JsonObject): JsonObject =>
  compileMapping(mapping, featuresOf(row))(row, 4);
const failure = (mapping: Mapping, row: JsonObject): unknown => thrownBy(() => map(mapping, row));

describe('templates', () => {
  it.each<[string, string]>([
    ['{q}', 'Q'],
    ['{q} {n}{q}', 'Q 1.5Q'],
    ['{{q}} {{{q}}} }', '{q} {Q} }'],
    ['no column', 'no column'],
    ['{a b}', '[1]'],
  ])('%s makes %s', (promptTemplate, prompt) => {
    const row = { q: 'Q', n: 1.5, 'a b': [1], none: null };
    expect(map({ promptTemplate, systemPromptTemplate: `s ${promptTemplate}` }, row)['inputs']).toEqual({
      prompt,
      system_prompt: `s ${prompt}`,
    });
  });

  it('leaves a system prompt out and refuses a prompt where a column is null', () => {
    const row = { q: 'Q', none: null };
    expect(map({ promptTemplate: '{q}', systemPromptTemplate: '{none}' }, row)['inputs']).toEqual({
      prompt: 'Q',
    });
    expect(failure({ promptTemplate: '{q}{none}' }, row)).toMatchObject({
      code: 'invalid_row',
      message: 'Column none is null in dataset row 4',
      location: { row: 4 },
    });
  });

  it.each(['{', 'a {q', '{}', '{q{', 'x'.repeat(65_537), '{q}'.repeat(1001)])(
    'refuses the template %.10s',
    (promptTemplate) => {
      expect(failure({ promptTemplate }, { q: 'Q' })).toMatchObject({
        code: 'invalid_mapping',
        location: { path: '/mapping/prompt_template' },
      });
    },
  );

  it('refuses a text that a template makes too long', () => {
    const row = { q: 'x'.repeat(4 * 1024 * 1024) };
    expect(failure({ promptTemplate: '{q}'.repeat(17) }, row)).toMatchObject({ code: 'invalid_row' });
  });
});

describe('bounds', () => {
  const KIB_60 = 'x'.repeat(60 * 1024);
  it.each<[string, JsonObject]>([
    ['checker', { prompt_column: 'q', checker: { pattern: 'x'.repeat(900_000) } }],
    ['checker', { prompt_column: 'q', checker: KIB_60, tags: ['x'.repeat(5000)] }],
    ['tags', { prompt_column: 'q', tags: [`${KIB_60}1`, `${KIB_60}2`] }],
    ['prompt_template', { prompt_template: `${KIB_60}{q}`, tags: ['x'.repeat(5000)] }],
    ['prompt_template', { prompt_template: 'é'.repeat(40_000) }],
    [
      'system_prompt_template',
      { prompt_column: 'q', system_prompt_template: KIB_60, default_type: 'x'.repeat(5000) },
    ],
    ['meta_columns', { prompt_column: 'q', meta_columns: { [KIB_60]: 'q', ['y'.repeat(5000)]: 'q' } }],
  ])('names %s as the largest of constants over 64 KiB', (key, mapping) => {
    expect(thrownBy(() => readMapping(mapping))).toMatchObject({
      code: 'invalid_mapping',
      message: expect.stringMatching(
        new RegExp(
          `^The constants of a mapping must have at most 65536 bytes together, got \\d+ [(]${key} has `,
        ),
      ),
      location: { path: `/mapping/${key}` },
    });
  });

  it('allows constants of 64 KiB, and keys of any length that are names of columns', () => {
    const checker = 'x'.repeat(64 * 1024 - 2);
    expect(map({ promptColumn: 'q', checker }, { q: 'Q' })['checker']).toBe(checker);
    expect(failure({ promptColumn: 'q', checker: `${checker}x` }, { q: 'Q' })).toMatchObject({
      code: 'invalid_mapping',
    });
    const names = Array.from({ length: 1000 }, (_, index) => `${index} ${'long name '.repeat(10)}`);
    const row = Object.fromEntries([['q', 'Q'], ...names.map((name) => [name, 1])]);
    expect(map({ promptColumn: 'q', metaColumns: names }, row)).toMatchObject({
      meta: { [names[999] ?? '']: 1 },
    });
  });

  it.each<[string, Mapping]>([
    ['prompt_template', { promptTemplate: '{q}'.repeat(21) }],
    ['prompt_template', { promptTemplate: '{q}'.repeat(11), metaColumns: tenKeys('q') }],
    ['meta_columns', { promptColumn: 'q', metaColumns: { ...tenKeys('q'), ...tenKeys('q', 'b') } }],
    ['tags_columns', { promptTemplate: '{q}'.repeat(20), tagsColumns: ['q'] }],
  ])('refuses a column in more than 20 places, and names %s', (key, mapping) => {
    expect(failure(mapping, { q: 'Q' })).toMatchObject({
      code: 'invalid_mapping',
      message: 'A mapping must use a column in at most 20 places, got more for "q"',
      location: { path: `/mapping/${key}` },
    });
  });

  it('allows a column in 20 places', () => {
    const meta = { ...tenKeys('q'), ...tenKeys('q', 'b') };
    expect(map({ promptTemplate: 'x', metaColumns: meta }, { q: 'Q' })['meta']).toMatchObject({
      a0: 'Q',
      b9: 'Q',
    });
    expect(map({ promptTemplate: '{q}'.repeat(20) }, { q: 'Q' })['inputs']).toEqual({
      prompt: 'Q'.repeat(20),
    });
  });
});

function tenKeys(column: string, prefix = 'a'): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${prefix}${index}`, column]));
}

describe('types', () => {
  const LONG = new ExactNumber('9223372036854775807');
  it.each<[ColumnType, JsonValue, JsonValue]>([
    ['string', '001', '001'],
    ['string', '', ''],
    ['string', 'NA', 'NA'],
    ['string', 1.5, '1.5'],
    ['string', [true], '[true]'],
    ['int64', '007', 7],
    ['int64', '+1', 1],
    ['int64', '1e3', 1000],
    ['int64', '9223372036854775807', LONG],
    ['int64', LONG, LONG],
    ['int64', 'NA', null],
    ['float64', '1.50', 1.5],
    ['float64', '.5', 0.5],
    ['float64', '', null],
    ['bool', 'True', true],
    ['bool', false, false],
    ['json', '{"a":[1]}', { a: [1] }],
    ['json', 'null', null],
    ['json', ['x'], ['x']],
  ])('%s of %j is %j', (type, cell, value) => {
    expect(
      map({ promptColumn: 'q', metaColumns: ['x'], types: { x: type } }, { q: 'Q', x: cell })['meta'] ?? {
        x: null,
      },
    ).toEqual({ x: value });
  });

  it.each<[ColumnType, JsonValue]>([
    ['int64', '1.5'],
    ['int64', 1.5],
    ['int64', '9223372036854775808'],
    ['int64', 'x'],
    ['int64', true],
    ['float64', 'NaN'],
    ['float64', '1.2.3'],
    ['float64', `1e${'9'.repeat(10)}`],
    ['bool', 'yes'],
    ['bool', 1],
    ['json', '{a}'],
  ])('%s refuses %j', (type, cell) => {
    expect(
      failure({ promptColumn: 'q', answerColumn: 'x', types: { x: type } }, { q: 'Q', x: cell }),
    ).toMatchObject({
      code: 'invalid_row',
      location: { row: 4, path: '/x' },
    });
  });
});

describe('answers', () => {
  it.each<[Partial<Mapping>, JsonObject, JsonValue]>([
    [{ answerPattern: '####\\s*(\\S+)' }, { a: '6 * 12\n#### 72' }, '72'],
    [{ answerPattern: '^(.)' }, { a: 72 }, '7'],
    [{ answerIs: 'index', choicesColumn: 'c' }, { a: 1, c: ['x', 'y'] }, 'y'],
    [{ answerIs: 'index', choicesColumn: 'c' }, { a: '0', c: [5, 'y'] }, 5],
    [{ answerIs: 'letter', choicesColumns: ['A', 'B'] }, { a: 'b', A: 'x', B: 'y' }, 'y'],
    [{ answerIs: 'letter', choicesColumn: 'c' }, { a: 'C', c: { text: ['x', 'y'], label: ['C', 'D'] } }, 'x'],
    [{ answerIs: 'number', choicesColumn: 'c' }, { a: 1, c: ['x', 'y'] }, 'x'],
    [{ answerIs: 'number', choicesColumns: ['A', 'B'] }, { a: '2', A: 'x', B: 'y' }, 'y'],
    [{ answerIs: 'label', choicesColumn: 'c' }, { a: '2', c: { text: ['x', 'y'], label: ['1', '2'] } }, 'y'],
    [{ answerIs: 'label', choicesColumn: 'c' }, { a: 2, c: '{"2":"y","1":"x"}' }, 'y'],
    [
      { answerIs: 'label', choicesColumn: 'c' },
      {
        a: 'b',
        c: [
          { key: 'A', value: 'x' },
          { key: 'B', value: 'y' },
        ],
      },
      'y',
    ],
    [{ answerIs: 'label', choicesColumns: ['A', 'B'] }, { a: 'B', A: 'x', B: 'y' }, 'y'],
    [{ answerIs: 'letter', choicesColumn: 'c' }, { a: ['A', 'B'], c: "['x', 'y']" }, ['x', 'y']],
    [{ answerIs: 'index', choicesColumn: 'c' }, { a: '', c: ['x', 'y'] }, undefined as never],
    [
      { answerIs: 'letter', choicesColumn: 'c', answerPattern: '\\((\\w)\\)' },
      { a: 'It is (B).', c: ['x', 'y'] },
      'y',
    ],
  ])('%j', (mapping, row, answer) => {
    expect(map({ promptColumn: 'q', answerColumn: 'a', ...mapping }, { q: 'Q', ...row })['answer']).toEqual(
      answer,
    );
  });

  it.each<[Partial<Mapping>, JsonObject]>([
    [{ answerPattern: '####\\s*(\\S+)' }, { a: '72' }],
    [{ answerPattern: '(x)' }, { a: 'y'.repeat(10_000_000) }],
    [
      { answerIs: 'index', choicesColumn: 'c' },
      { a: 2, c: ['x', 'y'] },
    ],
    [
      { answerIs: 'index', choicesColumn: 'c' },
      { a: -1, c: ['x', 'y'] },
    ],
    [
      { answerIs: 'index', choicesColumn: 'c' },
      { a: 0, c: null },
    ],
    [
      { answerIs: 'letter', choicesColumns: ['A', 'B'] },
      { a: 'C', A: 'x', B: 'y' },
    ],
    [
      { answerIs: 'number', choicesColumn: 'c' },
      { a: 0, c: ['x', 'y'] },
    ],
    [
      { answerIs: 'number', choicesColumn: 'c' },
      { a: 3, c: ['x', 'y'] },
    ],
    [
      { answerIs: 'label', choicesColumn: 'c' },
      { a: 'B', c: { text: ['x', 'y'], label: ['1', '2'] } },
    ],
    [
      { answerIs: 'letter', choicesColumn: 'c' },
      { a: ['A', 'C'], c: ['x', 'y'] },
    ],
    [{ choicesColumns: ['A', 'B'] }, { a: null, A: null, B: 'y' }],
  ])('refuses %j', (mapping, row) => {
    expect(failure({ promptColumn: 'q', answerColumn: 'a', ...mapping }, { q: 'Q', ...row })).toMatchObject({
      code: 'invalid_row',
      location: { row: 4 },
    });
  });

  it.each([
    'x',
    '(x',
    '(?<a>x)\\k<a>',
    '(a)(?=b)',
    '(x{1000}){1000}',
    `(${'x'.repeat(500)})`,
    '(((a{100}){100}){100})',
  ])('refuses the pattern %.20s', (answerPattern) => {
    expect(
      failure({ promptColumn: 'q', answerColumn: 'a', answerPattern }, { q: 'Q', a: 'x' }),
    ).toMatchObject({
      code: 'invalid_mapping',
      location: { path: '/mapping/answer_pattern' },
    });
  });
});

it('takes choices, types, tags and constants', () => {
  const row = { q: 'Q', A: 'x', B: 'y', C: '', t: 'exact', k: 'one', l: ['two', 'one', null, 3] };
  const mapping: Mapping = {
    promptColumn: 'q',
    choicesColumns: ['A', 'B', 'C'],
    typeColumn: 't',
    tags: ['all', 'one'],
    tagsColumns: ['k', 'l'],
    checker: { type: 'exact' },
  };
  expect(map(mapping, row)).toEqual({
    id: 'train-4',
    type: 'exact',
    inputs: { prompt: 'Q', choices: ['x', 'y'] },
    checker: { type: 'exact' },
    tags: ['all', 'one', 'two', '3'],
  });
  expect(map(mapping, { ...row, t: null, C: 'z' })).toMatchObject({
    type: 'freeform',
    inputs: { choices: ['x', 'y', 'z'] },
  });
});

it('takes a checker from a column, or that of all items', () => {
  const mapping: Mapping = { promptColumn: 'q', checkerColumn: 'c', checker: 'includes' };
  const checkerOf = (c: JsonValue): JsonValue | undefined =>
    (map(mapping, { q: 'Q', c }) as JsonObject)['checker'];
  expect(checkerOf({ type: 'numeric', tolerance: 0.1 })).toEqual({ type: 'numeric', tolerance: 0.1 });
  expect(checkerOf(' {"type":"numeric","tolerance":0.10}')).toEqual({
    type: 'numeric',
    tolerance: 0.1,
  });
  expect(checkerOf('exact_match')).toBe('exact_match');
  expect([checkerOf(null), checkerOf('')]).toEqual(['includes', 'includes']);
  for (const c of ['{"type":', '{} {}', 7, true, ['exact_match']]) {
    expect(failure(mapping, { q: 'Q', c })).toMatchObject({
      code: 'invalid_row',
      location: { row: 4, path: '/c' },
    });
  }
});

describe('keepUnmapped', () => {
  const mapping: Mapping = { promptColumn: 'q', metaColumns: { a: 'x' }, keepUnmapped: true };
  const columns = ['q', 'x', 'a', 'level', '__proto__'];
  const features = columns.map((name) => ({ name, dtype: 'string' }));
  const row = JSON.parse('{"q":"Q","x":"1","a":"2","level":null,"__proto__":"3"}');

  it('keeps the columns that nothing else names in meta, each under a key of its own', () => {
    const item = compileMapping(mapping, features)(row, 0);
    expect(JSON.stringify(item['meta'])).toBe('{"a":"1","a_2":"2","__proto__":"3"}');
    const own = compileMapping({ ...mapping, keepUnmapped: false }, features)(row, 0);
    expect(own['meta']).toEqual({ a: '1' });
  });

  it('needs the columns of the table', () => {
    expect(() => compileMapping(mapping)).toThrow(expect.objectContaining({ code: 'invalid_mapping' }));
  });
});

describe('readMapping', () => {
  const wire = {
    prompt_template: '{q}',
    answer_column: 'a',
    answer_pattern: '(x)',
    answer_is: 'text',
    choices_columns: ['A', 'B'],
    meta_columns: { k: 'm' },
    tags: ['t'],
    checker: { type: 'exact' },
    types: { a: 'int64' },
    invalid_rows: 'skip',
  };
  it('reads what writeMapping writes; null means absent', () => {
    const mapping = readMapping({ ...wire, id_column: null });
    expect(mapping).toMatchObject({ promptTemplate: '{q}', types: { a: 'int64' }, invalidRows: 'skip' });
    expect(writeMapping(mapping)).toEqual(wire);
  });
  it.each<[JsonValue, string]>([
    [[], '/mapping'],
    [{}, '/mapping/prompt_column'],
    [{ prompt_column: '' }, '/mapping/prompt_column'],
    [{ prompt_column: 'q', prompt: 'q' }, '/mapping/prompt'],
    [{ prompt_column: 'q', answer_is: 'position' }, '/mapping/answer_is'],
    [{ prompt_column: 'q', tags: ['a', 'a'] }, '/mapping/tags'],
    [{ prompt_column: 'q', meta_columns: { a: 1 } }, '/mapping/meta_columns'],
    [{ prompt_column: 'q', types: { a: 'text' } }, '/mapping/types'],
    [{ prompt_column: 'q', checker: [] }, '/mapping/checker'],
    [{ prompt_column: 'q', prompt_template: '{q}' }, '/mapping/prompt_template'],
    [{ prompt_column: 'q', choices_column: 'c', choices_columns: ['A'] }, '/mapping/choices_columns'],
    [{ prompt_column: 'q', answer_column: 'a', answer_is: 'index' }, '/mapping/answer_is'],
    [{ prompt_column: 'q', choices_column: 'c', answer_is: 'letter' }, '/mapping/answer_is'],
    [{ prompt_column: 'q', answer_pattern: '(x)' }, '/mapping/answer_pattern'],
  ])('refuses %j', (value, path) => {
    expect(thrownBy(() => readMapping(value))).toMatchObject({ code: 'invalid_mapping', location: { path } });
  });
});

it('names keys that rules for answers need as requests write them', () => {
  const messageOf = (more: JsonObject): unknown =>
    (thrownBy(() => readMapping({ prompt_column: 'q', ...more })) as Error).message;
  expect([
    messageOf({ answer_pattern: '(x)' }),
    messageOf({ choices_column: 'c', answer_is: 'index' }),
    messageOf({ answer_column: 'a', answer_is: 'index' }),
  ]).toEqual([
    'A mapping with answer_pattern must have answer_column',
    'A mapping with answer_is must have answer_column',
    'A mapping with answer_is index must have choices_column or choices_columns',
  ]);
});

describe('suggestMapping by values', () => {
  it.each<[string, JsonObject[], Mapping | null]>([
    [
      'answers after ####',
      [
        { question: 'a', answer: 'x = 5\n#### 5' },
        { question: 'b', answer: '#### 1,000' },
      ],
      {
        promptColumn: 'question',
        answerColumn: 'answer',
        answerPattern: '####\\s*(\\S+)',
        defaultType: 'numeric',
      },
    ],
    [
      'numbers',
      [
        { question: 'a', answer: '$1,000' },
        { question: 'b', answer: -3.5 },
      ],
      { promptColumn: 'question', answerColumn: 'answer', defaultType: 'numeric' },
    ],
    ['texts', [{ question: 'a', answer: '5 apples' }], { promptColumn: 'question', answerColumn: 'answer' }],
    ['no prompt but ids', [{ id: 'a' }], null],
    [
      'empty columns',
      [{ question: null, prompt: 'a', answer: null, target: 'x' }],
      { promptColumn: 'prompt', answerColumn: 'target' },
    ],
    [
      'columns of choices',
      [{ question: 'a', A: 'x', B: 'y', C: 'z', answer: 'B' }],
      {
        promptColumn: 'question',
        answerColumn: 'answer',
        choicesColumns: ['A', 'B', 'C'],
        defaultType: 'multiple_choice',
        answerIs: 'letter',
      },
    ],
    [
      'indexes of choices',
      [
        { question: 'a', choices: '["x","y"]', answer: '1' },
        { question: 'b', choices: '["x","y"]', answer: '0' },
      ],
      {
        promptColumn: 'question',
        answerColumn: 'answer',
        choicesColumn: 'choices',
        defaultType: 'multiple_choice',
        answerIs: 'index',
      },
    ],
    ['no texts', [{ question: null }], null],
  ])('%s', (_, rows, mapping) => {
    const features = featuresOf(rows[0] as JsonObject);
    const suggestion = suggestMapping(features, rows);
    expect(suggestion?.mapping ?? null).toEqual(mapping);
    // Every member has its reason.
    if (suggestion !== null)
      expect(Object.keys(suggestion.reasons).sort()).toEqual(
        Object.keys(writeMapping(suggestion.mapping)).sort(),
      );
  });

  it('chooses no images of which rows have the path alone, because an import would refuse them', () => {
    const features = [
      { name: 'q', dtype: 'string' },
      { name: 'path only', dtype: 'image' },
      { name: 'img', dtype: 'image' },
    ];
    const pathOnly = { bytes: null, path: 'a.png' };
    const rows = [{ q: 'q', 'path only': { bytes: 'iVBO', path: null }, img: { bytes: 'iVBO', path: null } }];
    rows.push({ q: 'q', 'path only': pathOnly as never, img: null as never });
    expect(suggestMapping(features, rows)?.mapping.assetsColumn).toBe('img');
  });

  it('gives a reason for every member that the dataset names itself', () => {
    const specified = {
      promptColumn: 'q',
      answerColumn: 'a',
      defaultType: 'multiple_choice',
      metaColumns: { b: 'b' },
    };
    const suggestion = suggestMapping(
      featuresOf({ q: '', a: '', b: '' }),
      [{ q: 'q', a: 'a', b: 'b' }],
      specified,
    );
    expect(suggestion?.mapping).toEqual(specified);
    expect(Object.keys(suggestion?.reasons ?? {}).sort()).toEqual(
      Object.keys(writeMapping(specified)).sort(),
    );
  });
});
