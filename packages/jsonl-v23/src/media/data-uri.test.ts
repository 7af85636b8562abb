import { describe, expect, it } from 'vitest';
import { isDataUri, parseDataUri } from './data-uri.ts';

const base64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');

describe('parseDataUri', () => {
  it.each([
    ['data:image/png;base64,iVBORw0KGgo=', 'image/png', '\x89PNG\r\n\x1a\n'],
    ['DATA:IMAGE/PNG;BASE64,iVBORw0KGgo=', 'image/png', '\x89PNG\r\n\x1a\n'],
    ['data:image/png; base64,iVBORw0KGgo', 'image/png', '\x89PNG\r\n\x1a\n'],
    ['data:image/png;base64,iVBOR%77%30KGgo%3D', 'image/png', '\x89PNG\r\n\x1a\n'],
    ['data:text/plain;charset=UTF-8;base64,YQ==', 'text/plain;charset=UTF-8', 'a'],
    ['data:text/html,%3Cp%3E1%25%3c/p%3e', 'text/html', '<p>1%</p>'],
    ['data:text/x,100%,%zz%4', 'text/x', '100%,%zz%4'],
    ['data:text/x,é', 'text/x', '\xc3\xa9'],
    ['data:,', 'text/plain;charset=US-ASCII', ''],
    ['data:;base64,', 'text/plain;charset=US-ASCII', ''],
    ['data:;charset=utf-8,x', 'text/plain;charset=utf-8', 'x'],
    ['data:text/x;base64;x,YQ', 'text/x;base64;x', 'YQ'],
  ])('%s', (uri, mimeType, content) => {
    expect(parseDataUri(uri)).toEqual({ mimeType, data: base64(content) });
  });

  it.each([
    'data:',
    'data:image/png',
    'data:;base64,a',
    'data:;base64,@@@@',
    'data:;base64,%FF%FF',
    'http://a,b',
    '',
  ])('refuses %j', (uri) => {
    expect(parseDataUri(uri)).toBeNull();
  });
});

it.each([
  ['data:,', true],
  ['Data:,', true],
  [' data:,', false],
  ['database', false],
])('isDataUri(%j) is %s', (text, expected) => {
  expect(isDataUri(text)).toBe(expected);
});
