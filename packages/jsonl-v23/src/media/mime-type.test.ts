import { describe, expect, it } from 'vitest';
import { extensionForMimeType, mimeTypeForPath, sniffMimeType } from './mime-type.ts';

it.each([
  ['assets/a.png', 'image/png'],
  ['A.JPEG', 'image/jpeg'],
  ['a.tar.gz', 'application/gzip'],
  ['checkers/a.py', 'text/x-python'],
  ['a.unknown', 'application/octet-stream'],
  ['png', 'application/octet-stream'],
  ['dir.png/file', 'application/octet-stream'],
  ['a.', 'application/octet-stream'],
  ['', 'application/octet-stream'],
  ['.constructor', 'application/octet-stream'],
])('the type of %j is %s', (path, mimeType) => {
  expect(mimeTypeForPath(path)).toBe(mimeType);
});

it.each([
  ['image/png', '.png'],
  ['IMAGE/JPEG', '.jpg'],
  ['image/jpg', '.jpg'],
  ['text/plain; charset=utf-8', '.txt'],
  ['application/octet-stream', ''],
  ['toString', ''],
  ['', ''],
])('the extension of %j is %j', (mimeType, extension) => {
  expect(extensionForMimeType(mimeType)).toBe(extension);
});

describe('sniffMimeType', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n\0\0', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
    ['RIFF\x10\0\0\0WAVEfmt ', 'audio/wav'],
    ['fLaC', 'audio/flac'],
    ['ID3\x03', 'audio/mpeg'],
    ['\xff\xfb\x90\x64', 'audio/mpeg'],
    ['\0\0\0\x18ftypmp42', 'video/mp4'],
    ['\0\0\0\x18ftypavif', 'image/avif'],
    ['%PDF-1.7', 'application/pdf'],
    ['\x89PN', null],
    ['RIFF', null],
    ['hello, world', null],
    ['', null],
  ])('of %j is %s', (bytes, mimeType) => {
    expect(sniffMimeType(Buffer.from(bytes, 'latin1'))).toBe(mimeType);
  });
});
