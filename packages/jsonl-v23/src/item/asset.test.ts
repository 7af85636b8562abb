import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../test/arbitrary-json.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { assetEntries, fileReferences, isEmbeddedChecker } from './asset.ts';
import { parseItem } from './parse-item.ts';

const PNG = 'iVBORw0KGgo=';
const embedded = { mime_type: 'image/png', encoding: 'base64', data: PNG };

const normalised = (entry: JsonValue): JsonValue =>
  (parseItem({ assets: [entry] })['assets'] as JsonValue[])[0] as JsonValue;

describe('an asset entry', () => {
  it.each<[string, JsonValue, JsonObject]>([
    ['embedded content', embedded, embedded],
    ['data without encoding', { mime_type: 'image/png', data: PNG }, embedded],
    ['content_type', { content_type: 'image/png', data: PNG }, embedded],
    [
      'mime_type and content_type',
      { mime_type: 'image/png', content_type: 'text/plain', data: PNG },
      embedded,
    ],
    [
      'mime_type and a content_type of no type',
      { mime_type: 'image/png', content_type: 5, data: PNG } as never,
      embedded,
    ],
    ['content without a type', { data: PNG }, { ...embedded, mime_type: 'application/octet-stream' }],
    ['content with a path', { data: PNG, path: 'assets/x.PNG' }, { ...embedded, path: 'assets/x.PNG' }],
    [
      'content with a path elsewhere',
      { data: PNG, path: '/home/me/x.png' },
      { ...embedded, path: '/home/me/x.png' },
    ],
    ['empty content', { data: '' }, { data: '', encoding: 'base64', mime_type: 'application/octet-stream' }],
    ['a path', 'assets/a/b c.png', { path: 'assets/a/b c.png' }],
    ['a path entry', { path: 'assets/a.png' }, { path: 'assets/a.png' }],
    ['a path that is not an archive entry', { path: 'images/a.png' }, { path: 'images/a.png' }],
    ['a link', 'https://example.org/a.png', { url: 'https://example.org/a.png' }],
    ['a link in capitals', 'HTTP://EXAMPLE.ORG', { url: 'HTTP://EXAMPLE.ORG' }],
    [
      'a link with a path elsewhere',
      { url: 'https://x.org', path: 'C:\\a.png' },
      { url: 'https://x.org', path: 'C:\\a.png' },
    ],
    [
      'nulls',
      { url: null, path: null, data: PNG, mime_type: 'image/png' },
      { ...embedded, url: null, path: null },
    ],
    ['other keys', { note: [1], url: 'ftp://x', __proto__: {} }, { note: [1], url: 'ftp://x' }],
    ['nothing', {}, {}],
    ['a data: URI', `data:image/png;base64,${PNG}`, embedded],
    ['a data: URI as url', { url: `data:image/png;base64,${PNG}`, alt: 'x' }, { ...embedded, alt: 'x' }],
    [
      'a data: URI with a type',
      { url: `data:image/png;base64,${PNG}`, mime_type: 'image/x' },
      { ...embedded, mime_type: 'image/x' },
    ],
    [
      'a data: URI with a content_type',
      { url: `data:,a`, content_type: 'text/x' },
      { mime_type: 'text/x', encoding: 'base64', data: 'YQ==' },
    ],
    ['a data: URI with the same data', { url: `data:image/png;base64,${PNG}`, data: PNG }, embedded],
    [
      'a data: URI of text',
      'DATA:,a%20b',
      { mime_type: 'text/plain;charset=US-ASCII', encoding: 'base64', data: 'YSBi' },
    ],
  ])('%s', (_, entry, expected) => {
    expect(normalised(entry)).toEqual(expected);
    expect(normalised(normalised(entry))).toEqual(expected);
    expect(parseItem({ assets: { name: entry } })['assets']).toEqual({ name: expected });
  });

  it.each<[string, JsonValue, member: string, message: RegExp]>([
    ['null', null, '', /must be an object or a string, got null/],
    ['a number', 5, '', /must be an object or a string, got the number 5/],
    ['an array', [], '', /must be an object or a string, got an array/],
    ['another string', 'images/a.png', '', /must be an assets\/ path or a URL, got "images\/a.png"/],
    ['an empty string', '', '', /must be an assets\/ path or a URL, got ""/],
    [
      'another encoding',
      { encoding: 'utf-8', data: 'a' },
      '/encoding',
      /must be "base64", got the string "utf-8"/,
    ],
    ['a null encoding', { encoding: null }, '/encoding', /must be "base64", got null/],
    ['base64 with a wrong letter', { data: 'a-b_' }, '/data', /is not valid base64: "a-b_"/],
    ['base64 without padding', { data: 'YQ' }, '/data', /is not valid base64/],
    ['base64 with unused bits', { data: 'YR==' }, '/data', /is not valid base64/],
    ['base64 with a line break', { data: 'YWJj\nYWJj' }, '/data', /is not valid base64/],
    ['data that is not a string', { data: null }, '/data', /must be a string, got null/],
    ['a type that is not a string', { mime_type: null }, '/mime_type', /must be a string, got null/],
    [
      'a content_type that is not a string',
      { content_type: 1 },
      '/content_type',
      /must be a string, got the number 1/,
    ],
    ['a url that is not a string', { url: ['https://a'] }, '/url', /must be a string, got an array/],
    ['a path that is not a string', { path: 1 }, '/path', /must be a string, got the number 1/],
    ['a broken data: URI', 'data:image/png;base64', '/url', /is not a valid data: URI/],
    ['a data: URI with broken base64', { url: 'data:;base64,a' }, '/url', /is not a valid data: URI/],
    ['a data: URI with other data', { url: 'data:,a', data: PNG }, '/url', /has other content in "data"/],
    [
      'a data: URI with another encoding',
      { url: 'data:,a', encoding: 'hex' },
      '/encoding',
      /must be "base64"/,
    ],
    [
      'a path that leaves assets/',
      'assets/../manifest.json',
      '/path',
      /must be a plain path under assets\/, got "assets\/..\/manifest.json"/,
    ],
    [
      'a path entry that leaves assets/',
      { path: 'assets/a/../../b' },
      '/path',
      /must be a plain path under assets/,
    ],
    ['a path with a dot', { path: 'assets/./a' }, '/path', /must be a plain path under assets/],
    ['a path with an empty segment', { path: 'assets//a' }, '/path', /must be a plain path under assets/],
    ['a path of the folder', { path: 'assets/' }, '/path', /must be a plain path under assets/],
    ['a path with a backslash', { path: 'assets/a\\b' }, '/path', /must be a plain path under assets/],
    ['a path with backslashes', { path: 'assets\\a' }, '/path', /must be a plain path under assets/],
    ['a path with NUL', { path: 'assets/a\0' }, '/path', /must be a plain path under assets/],
    ['an absolute path to assets', { path: '/assets/a' }, '/path', /must be a plain path under assets/],
    ['a relative path to assets', { path: '../assets/a' }, '/path', /must be a plain path under assets/],
    [
      'a link with such a path',
      { url: 'https://x', path: './assets/a' },
      '/path',
      /must be a plain path under assets/,
    ],
  ])('is refused: %s', (_, entry, member, message) => {
    const inList = thrownBy(() => parseItem({ assets: [embedded, entry] }, { file: 'a', line: 2 }));
    expect(inList).toMatchObject({
      code: 'invalid_asset',
      location: { file: 'a', line: 2, path: `/assets/1${member}` },
    });
    expect((inList as Error).message).toMatch(message);
    const named = thrownBy(() => parseItem({ assets: { 'a/b': entry } }));
    expect(named).toMatchObject({ code: 'invalid_asset', location: { path: `/assets/a~1b${member}` } });
  });

  it.each<[string, string]>([
    ['an absolute path', '/etc/passwd'],
    ['a drive', 'C:a.png'],
    ['a path out of the archive', 'images/../../a.png'],
    ['a path with a backslash', 'images\\a.png'],
  ])('refuses a file that no archive has: %s', (_, path) => {
    const error = thrownBy(() => parseItem({ assets: [embedded, { path }] }, { file: 'a', line: 2 }));
    const message = `/assets/1/path must not leave the archive, got ${JSON.stringify(path)}`;
    expect(error).toMatchObject({
      code: 'missing_file',
      message,
      location: { file: 'a', line: 2, path: '/assets/1/path' },
    });
  });

  it('keeps any name', () => {
    const item = parseItem(parseJson(`{"assets":{"__proto__":{"data":"${PNG}"},"toString":"assets/a"}}`));
    expect(JSON.stringify(item)).toBe(
      `{"assets":{"__proto__":{"data":"${PNG}","encoding":"base64","mime_type":"application/octet-stream"},"toString":{"path":"assets/a"}}}`,
    );
  });
});

describe('a checker', () => {
  it.each<[string, JsonObject]>([
    ['data that is not base64', { path: 'checkers/a.py', data: '?' }],
    ['data that is not a string', { path: 'checkers/a.py', data: 1 }],
    ['another encoding', { path: 'checkers/a.py', encoding: 'utf-8' }],
    ['content that says it is base64', { encoding: 'base64', data: '?' }],
    ['a path that leaves its folder', { path: 'checkers/../a.py' }],
    ['an absolute path to checkers', { path: '/checkers/a.py' }],
    ['backslashes', { path: 'checkers\\a.py' }],
  ])('is refused: %s', (_, checker) => {
    expect(thrownBy(() => parseItem({ checker }))).toMatchObject({ code: 'invalid_asset' });
  });

  it.each<[JsonValue | undefined, boolean]>([
    [undefined, false],
    [null, false],
    ['x', false],
    [{ encoding: 'base64', data: 'YQ==' }, true],
    [{ encoding: 'base64', data: 'YQ==', path: 'checkers/a' }, true],
    [{ encoding: 'base64', data: 'YQ==', path: 'elsewhere' }, false],
    [{ encoding: 'base64', data: 'YQ==', path: null }, false],
    [{ data: 'YQ==', path: 'checkers/a' }, false],
    [{ path: 'checkers/a' }, false],
  ])('%j holds the content of a file: %s', (checker, expected) => {
    expect(isEmbeddedChecker(checker)).toBe(expected);
  });
});

describe('fileReferences', () => {
  it('lists the archive files of an item with their locations', () => {
    const item = parseItem({
      assets: {
        a: 'assets/a.png',
        'b/c': { path: 'assets/deep/b.png', url: 'https://example.org' },
        d: { path: 'assets/d.png', data: PNG },
        e: { path: 'images/e.png' },
        f: 'https://example.org/assets/f.png',
        g: { path: 'assetsX/g' },
        h: { path: 'images/h.png', url: 'https://example.org/h.png' },
        i: { path: 'images/i.png', data: PNG },
      },
      checker: { type: 'script', path: 'checkers/check.py' },
    });
    expect(fileReferences(item)).toEqual([
      { kind: 'asset', path: 'assets/a.png', pointer: '/assets/a', addedBytes: 54 },
      { kind: 'asset', path: 'assets/deep/b.png', pointer: '/assets/b~1c', addedBytes: 54 },
      { kind: 'asset', path: 'images/e.png', pointer: '/assets/e', addedBytes: 54 },
      { kind: 'asset', path: 'assetsX/g', pointer: '/assets/g', addedBytes: 69 },
      { kind: 'checker', path: 'checkers/check.py', pointer: '/checker', addedBytes: 30 },
    ]);
  });

  it.each<JsonObject>([
    {},
    { assets: [], checker: null },
    { checker: 'checkers/a.py' },
    { checker: { path: 'checkers/a.py', data: 'YQ==' } },
    { checker: { path: 'a.py' } },
    { assets: [{ path: null }] },
  ])('finds none in %j', (item) => {
    expect(fileReferences(item)).toEqual([]);
  });
});

describe('assetEntries', () => {
  it('lists them with name or index', () => {
    const first = { url: 'a' };
    expect(assetEntries({ assets: [first, {}] })).toEqual([
      { name: 0, entry: first, pointer: '/assets/0' },
      { name: 1, entry: {}, pointer: '/assets/1' },
    ]);
    expect(assetEntries({ assets: { '~': first } })).toEqual([
      { name: '~', entry: first, pointer: '/assets/~0' },
    ]);
    expect(assetEntries({})).toEqual([]);
  });
});
