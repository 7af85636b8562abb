import { expect, it } from 'vitest';
import { suggestMapping, withType } from './suggest-mapping.ts';

const ROWS = 9;

/** What is suggested as id where the first column has these values. */
function idOf(name: string, valueAt: (row: number) => unknown): unknown {
  const samples = Array.from({ length: ROWS }, (_, row) => ({
    [name]: valueAt(row),
    question: `Why ${row}?`,
  }));
  const features = [name, 'question'].map((column) => ({ name: column, dtype: 'string' }));
  const preview = {
    features,
    samples,
    suggested_mapping: { prompt_column: 'question' },
    suggested_mapping_reasons: {},
    info: {},
  };
  return suggestMapping(preview).mapping.id_column;
}

it.each([
  ['n', (row: number) => row + 1],
  ['Nummer', (row: number) => `train-${row}`],
  ['question_id', (row: number) => 7 * row],
])('suggests %s as id', (name, valueAt) => expect(idOf(name, valueAt)).toBe(name));

it.each([
  ['answer', (row: number) => 7 * row],
  ['score', (row: number) => row / 7],
  ['url', (row: number) => `https://example.org/${row}`],
  ['text', (row: number) => `A text ${row}`],
  ['id', () => 'same'],
])('does not suggest %s', (name, valueAt) => expect(idOf(name, valueAt)).toBeUndefined());

it.each([
  ['gold', ['frage', 'gold']],
  ['Gold_Answer', ['frage', 'Gold_Answer']],
  ['answer', ['frage', 'label', 'answer']],
  [undefined, ['frage', 'golden']],
])('suggests %s as the answer of %j without a prompt', (answer, columns) => {
  const features = columns.map((name) => ({ name, dtype: 'string' }));
  const table = { features, suggested_mapping: null, suggested_mapping_reasons: null, info: {} };
  const { mapping, reasons } = suggestMapping({
    ...table,
    samples: [Object.fromEntries(columns.map((name) => [name, '7']))],
  });
  expect([mapping.answer_column, mapping.prompt_column]).toEqual([answer, undefined]);
  expect('answer_column' in reasons).toBe(answer !== undefined);
  const empty = suggestMapping({ ...table, samples: [{}] });
  expect(empty.mapping.answer_column).toBeUndefined();
});

it.each([
  ['numeric', [18, -3.5, '70000']],
  ['exact', ['Paris', 'New York', 12]],
  [undefined, ['Because the sum of both is larger than the first one.']],
  [undefined, [['a', 'b']]],
  [undefined, []],
])('suggests the type %s for the answers %j', (type, answers) => {
  const samples = answers.map((answer) => ({ question: 'Why?', answer }));
  const mapping = { prompt_column: 'question', answer_column: 'answer' };
  expect(withType(samples, mapping).default_type).toBe(type);
  const preview = {
    ...{ features: [], samples, suggested_mapping: mapping, suggested_mapping_reasons: null },
    info: {},
  };
  expect(suggestMapping(preview).mapping.default_type).toBe(type);
  expect('default_type' in suggestMapping(preview).reasons).toBe(type !== undefined);
});

it('keeps the type that a mapping states', () => {
  const mapping = { prompt_column: 'question', answer_column: 'answer', type_column: 'kind' };
  expect(withType([{ answer: 1 }], mapping)).toBe(mapping);
});
