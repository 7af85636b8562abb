import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { itemColumns } from './item-columns.tsx';

const values = new Map([
  [
    'type',
    new Map([
      ['exact', 4_000],
      ['freeform', 1_000],
    ]),
  ],
]);

it.each([
  [true, 'Type exact: 4,000 items'],
  [false, 'Type exact: 4,000 items of the first 5,000'],
])('counts the values of all items, or says that it counts the first ones: %s', (isWhole, title) => {
  const columns = itemColumns([], { values, isWhole, items: 5_000 }, undefined, () => undefined);
  const { note } = columns.find(({ key }) => key === 'type') ?? {};
  expect(renderToStaticMarkup(note)).toContain(`title="${title}"`);
});
