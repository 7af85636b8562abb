import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json-value.ts';
import { embeddedEntry, isFileCell } from './file-cell.ts';

describe('isFileCell', () => {
  it.each<[JsonObject, boolean]>([
    [{ bytes: 'YQ==', path: 'a.png' }, true],
    [{ bytes: null, path: 'a.png' }, true],
    [{ bytes: null, path: null }, true],
    [{ bytes: 'YQ==' }, true],
    [{ path: 'a.png' }, false],
    [{ bytes: 'YQ==', path: {} }, false],
    [{ bytes: [1, 2], path: null }, false],
    [{ bytes: 'YQ==', path: null, more: 1 }, false],
    [{}, false],
  ])('%j: %s', (value, expected) => {
    expect(isFileCell(value)).toBe(expected);
  });
});

describe('embeddedEntry', () => {
  it.each([
    ['iVBORw0KGgoAAAANSUhEUg==', 'a.jpg', 'image/png'],
    ['YSxi', 'a.csv', 'text/csv'],
    ['YSxi', null, 'application/octet-stream'],
    ['', 'a', 'application/octet-stream'],
  ])('of %j called %j is %s', (data, path, mimeType) => {
    expect(embeddedEntry(data, path)).toEqual({ mime_type: mimeType, encoding: 'base64', data });
  });
});
