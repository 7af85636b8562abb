import { describe, expect, it } from 'vitest';
import { moved, movedTo, readView, widthsText } from './view-columns.ts';

const ALL = ['id', 'question', 'score'].map((key) => ({ key, label: key, size: 100 }));

describe('readView', () => {
  it('reads what an address states, without what no column has', () => {
    const view = {
      columns: 'score,none,id,score',
      widths: 'id.320,score.x,none.20,question.9',
      pinned: 'id,x',
    };
    expect(readView(view, ALL, ['id'])).toEqual({
      shown: ['score', 'id'],
      widths: { id: 320, question: 40 },
      pinned: ['id'],
    });
    expect(readView({ columns: 'none' }, ALL, ['id'])).toEqual({ shown: ['id'], widths: {}, pinned: [] });
    expect(widthsText({ id: 320.4, score: 9_999 })).toBe('id.320,score.2000');
    expect(widthsText({})).toBeUndefined();
  });

  it('moves a column by one place, and not beyond the ends', () => {
    expect(moved(['a', 'b', 'c'], 'b', 1)).toEqual(['a', 'c', 'b']);
    expect(moved(['a', 'b'], 'b', 1)).toEqual(['a', 'b']);
    expect(moved(['a', 'b'], 'x', -1)).toEqual(['a', 'b']);
  });

  it('moves a column to the place of another', () => {
    expect(movedTo(['a', 'b', 'c', 'd'], 'a', 'c')).toEqual(['b', 'c', 'a', 'd']);
    expect(movedTo(['a', 'b', 'c', 'd'], 'd', 'b')).toEqual(['a', 'd', 'b', 'c']);
    expect(movedTo(['a', 'b'], 'a', 'a')).toEqual(['a', 'b']);
    expect(movedTo(['a', 'b'], 'a', 'x')).toEqual(['a', 'b']);
    expect(movedTo(['a', 'b'], 'x', 'a')).toEqual(['a', 'b']);
  });
});
