import { expect, it } from 'vitest';
import { summaryOf, withTexts } from './item-windows.ts';

const item = {
  id: 1,
  inputs: { prompt: 'What is 3*3?', messages: null },
  answer: 9,
  meta: { level: 2, customer: { tier: 'gold', 'a/b': 'x' }, notes: ['a'], text: 'two\nlines' },
};

it('offers every value of the metadata as a column, and edits those that a cell shows whole', () => {
  const { values, editable } = summaryOf(
    { section: 's', order_index: 0, item_hash: 'h', item, error: null } as never,
    'd',
  );
  expect(values).toEqual({
    answer: '9',
    'meta./level': '2',
    'meta./customer/tier': 'gold',
    'meta./customer/a~1b': 'x',
    'meta./notes': '[ "a" ]',
    'meta./text': 'two lines',
  });
  expect(editable).toEqual(['prompt', 'answer', 'meta./level', 'meta./customer/tier', 'meta./customer/a~1b']);
});

it('puts typed texts into an item, and keeps numbers numbers where the text is one', () => {
  const texts = {
    prompt: 'What is 4*4?',
    answer: '16',
    'meta./level': 'hard',
    'meta./customer/a~1b': 'y',
  };
  expect(withTexts(item as never, texts)).toEqual({
    ...item,
    inputs: { prompt: 'What is 4*4?', messages: null },
    answer: 16,
    meta: { ...item.meta, level: 'hard', customer: { tier: 'gold', 'a/b': 'y' } },
  });
});
