import { describe, expect, it } from 'vitest';
import { fitting, moved, movedTo, readView, shareWidths, widthsText } from './view-columns.ts';

const ALL = ['id', 'question', 'score'].map((key) => ({ key, label: key, size: 100 }));

describe('readView', () => {
  it('reads what an address states, without what no column has', () => {
    const view = {
      columns: 'score,none,id,score',
      widths: 'id.320,score.x,none.20,question.9',
    };
    expect(readView(view, ALL, ['id'])).toEqual({
      shown: ['score', 'id'],
      widths: { id: 320, question: 40 },
    });
    expect(readView({ columns: 'none' }, ALL, ['id'])).toEqual({ shown: ['id'], widths: {} });
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

describe('widths', () => {
  const columns = [
    { key: 'name', size: 100, share: 3 },
    { key: 'note', size: 100, share: 1, isOptional: true },
    { key: 'hash', size: 50, isOptional: true },
  ];

  it('leaves out the last columns that can be, where there is no room', () => {
    expect(fitting(columns, 250)).toEqual(['name', 'note', 'hash']);
    expect(fitting(columns, 249)).toEqual(['name', 'note']);
    expect(fitting(columns, 20)).toEqual(['name']);
  });

  it('divides the room that is left, but for resized columns', () => {
    expect([...shareWidths(columns, {}, 290).values()]).toEqual([130, 110, 50]);
    expect([...shareWidths(columns, { note: 60 }, 290).values()]).toEqual([180, 60, 50]);
    expect([...shareWidths(columns, {}, 0).values()]).toEqual([100, 100, 50]);
  });
});
