import { expect, it } from 'vitest';
import { attachmentName } from './download.ts';

it.each<[string | undefined, string | null]>([
  [undefined, null],
  ['inline', null],
  ['attachment; filename="a.pkg.zip"', 'a.pkg.zip'],
  ['attachment; filename=a.pkg.zip', 'a.pkg.zip'],
  ['attachment; filename="a \\"b\\".zip"', 'a _b_.zip'],
  [`attachment; filename="x.zip"; filename*=UTF-8''na%C3%AFve%20set.zip`, 'naïve set.zip'],
  [`attachment; filename*=utf-8'en'x.zip; filename=y.zip`, 'x.zip'],
  [`attachment; filename*=UTF-8''%E0%A4%A; filename="y.zip"`, 'y.zip'],
  [`attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`, 'passwd'],
  ['attachment; filename="C:\\\\Windows\\\\x.zip"', 'x.zip'],
  ['attachment; filename=".bashrc"', 'bashrc'],
  ['attachment; filename="-rf"', 'rf'],
  ['attachment; filename="--.-"', null],
  ['attachment; filename=".-.x.zip"', 'x.zip'],
  ['attachment; filename=".."', null],
  [`attachment; filename*=UTF-8''a%E2%80%AEpiz.exe`, 'a_piz.exe'],
  ['attachment; filename=""', null],
  ['attachment; filename="a\u0007\u001b[2J.zip"', 'a__[2J.zip'],
  [`attachment; filename="${'x'.repeat(300)}"`, null],
])('%j proposes %j', (header, expected) => {
  expect(attachmentName(header)).toBe(expected);
});
