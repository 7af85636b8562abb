import { ImportErrors } from '@svc/jsonl-v23/imports';
import { describe, expect, it } from 'vitest';
import { missingColumns } from './missing-columns.ts';

describe('missingColumns', () => {
  it('finds nothing wrong with a mapping whose columns exist', () => {
    expect(missingColumns({ promptColumn: 'q', metaColumns: { level: 'l' } }, ['q', 'l'])).toBeNull();
  });

  it('names the column, the nearest one and all that exist', () => {
    expect(missingColumns({ promptColumn: 'qestion' }, ['answer', 'question'])).toMatchObject({
      code: 'column_not_found',
      message:
        'Column qestion not found in dataset row. Did you mean "question"? The dataset has the columns "answer", "question".',
      location: { path: '/mapping/prompt_column' },
    });
  });

  it('compares names in any case, and suggests no name that is far', () => {
    const message = (column: string): unknown =>
      missingColumns({ promptColumn: column }, ['Question', 'b'])?.message;
    expect(message('QUESTION')).toMatch(/Did you mean "Question"\?/);
    expect(message('a')).not.toMatch(/Did you mean/);
    expect(missingColumns({ promptColumn: 'q' }, [])?.message).toMatch(/The dataset has no columns\.$/);
  });

  it('reports all missing columns together, each with its path', () => {
    const error = missingColumns(
      { promptColumn: 'x1', idColumn: 'id', criteriaColumns: ['id', 'x2'], metaColumns: { 'a/b': 'x3' } },
      ['id'],
    );
    expect(error).toBeInstanceOf(ImportErrors);
    expect(error).toMatchObject({
      total: 3,
      code: 'column_not_found',
      errors: [
        { location: { path: '/mapping/prompt_column' } },
        { location: { path: '/mapping/criteria_columns/1' } },
        { location: { path: '/mapping/meta_columns/a~1b' } },
      ],
    });
  });

  it('lists 50 columns and counts the others', () => {
    const names = Array.from({ length: 60 }, (_, index) => `column ${index}`);
    expect(missingColumns({ promptColumn: 'none' }, names)?.message).toMatch(/"column 49", and 10 more\.$/);
  });
});
