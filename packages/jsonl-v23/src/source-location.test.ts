import { describe, expect, it } from 'vitest';
import { formatLocation, jsonPointer, type SourceLocation } from './source-location.ts';

describe('formatLocation', () => {
  it.each<[SourceLocation, string]>([
    [{}, ''],
    [{ file: 'a.jsonl' }, 'a.jsonl'],
    [{ file: 'a.jsonl', line: 3 }, 'a.jsonl:3'],
    [{ file: 'a.jsonl', line: 3, column: 17 }, 'a.jsonl:3:17'],
    [{ file: 'a.jsonl', line: 3, column: 17, path: '/inputs/prompt' }, 'a.jsonl:3:17 (/inputs/prompt)'],
    [{ line: 3, column: 17 }, 'line 3, column 17'],
    [{ row: 12, path: '/id' }, 'row 12 (/id)'],
    [{ file: 'train.parquet', row: 0 }, 'train.parquet, row 0'],
    [{ path: '/id' }, '/id'],
    [{ line: 1, path: '' }, 'line 1'],
  ])('prints %j as "%s"', (location, text) => {
    expect(formatLocation(location)).toBe(text);
  });
});

describe('jsonPointer', () => {
  // RFC 6901 section 5.
  it.each([
    [[], ''],
    [['foo', 0], '/foo/0'],
    [[''], '/'],
    [['a/b'], '/a~1b'],
    [['m~n'], '/m~0n'],
    [['~1'], '/~01'],
    [[' ', 'c%d'], '/ /c%d'],
  ])('of %j is %j', (path, pointer) => {
    expect(jsonPointer(path)).toBe(pointer);
  });
});
