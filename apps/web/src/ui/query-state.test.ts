import { MantineProvider } from '@mantine/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { ApiProblem, type Problem } from '../api/api.ts';
import { ErrorView } from './query-state.tsx';

const DETAIL = 'Cannot read the file: it is damaged.';

const htmlOf = (errors: Problem['errors']): string =>
  renderToStaticMarkup(
    createElement(
      MantineProvider,
      null,
      createElement(ErrorView, {
        error: new ApiProblem({
          ...{ title: 'Unsupported file', status: 400, detail: DETAIL, code: 'unsupported_file' },
          ...{ request_id: 'r', errors },
        }),
      }),
    ),
  );

it('says once what the only error says, and where it is', () => {
  const html = htmlOf([{ message: DETAIL, file: 'letter.docx' }]);
  expect(html.split(DETAIL)).toHaveLength(2);
  expect(html).toContain('letter.docx');
  expect(htmlOf([{ message: DETAIL, path: 'config' }]).split(DETAIL)).toHaveLength(2);
});

it('lists errors that say more', () => {
  const html = htmlOf([{ message: 'One.', line: 3 }, { message: 'Two.' }]);
  for (const text of [DETAIL, 'line 3', 'One.', 'Two.']) expect(html).toContain(text);
});
