import { expect, it } from 'vitest';
import { suggestMapping } from './suggest-mapping.ts';

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
