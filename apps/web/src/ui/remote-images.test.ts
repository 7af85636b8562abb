import { expect, it } from 'vitest';
import { imageAddress, imageAddressOfCell } from './remote-images.tsx';

it.each([
  ['https://images.example/a.png', 'https://images.example/a.png'],
  ['HTTPS://Images.Example:8443/a%20b.JPEG?size=1#x', 'https://images.example:8443/a%20b.JPEG?size=1#x'],
  ['https://bücher.example/a.webp', 'https://xn--bcher-kva.example/a.webp'],
])('takes %s', (text, address) => {
  expect(imageAddress(text, undefined)).toBe(address);
});

it.each([
  'http://images.example/a.png',
  '//images.example/a.png',
  '/a.png',
  'javascript:alert(1)//a.png',
  'data:image/png;base64,AAAA',
  'https://user@images.example/a.png',
  'https://user:word@images.example/a.png',
  'https://:word@images.example/a.png',
  'https://localhost/a.png',
  'https://a.localhost./a.png',
  'https://router/a.png',
  'https://printer.local/a.png',
  'https://wiki.corp/a.png',
  'https://db.internal/a.png',
  'https://x.home.arpa/a.png',
  'https://127.0.0.1/a.png',
  'https://0x7f.1/a.png',
  'https://2130706433/a.png',
  'https://10.0.0.1/a.png',
  'https://169.254.169.254/a.png',
  'https://8.8.8.8/a.png',
  'https://[::1]/a.png',
  'https://[2001:4860:4860::8888]/a.png',
  'https://images.example/a.html',
  'https://images.example/',
  'https://',
  'an image at https://images.example/a.png',
  `https://images.example/${'a'.repeat(9000)}.png`,
])('refuses %s', (text) => {
  expect(imageAddress(text, undefined)).toBeUndefined();
});

it('believes a stated media type more than a name', () => {
  expect(imageAddress('https://images.example/1', 'image/png')).toBe('https://images.example/1');
  expect(imageAddress('https://images.example/1.png', 'audio/wav')).toBeUndefined();
  expect(imageAddress('https://localhost/1.png', 'image/png')).toBeUndefined();
});

it.each([
  [{ url: 'https://images.example/1' }, 'picture', 'image', true],
  [{ url: 'https://images.example/1.png' }, 'x', 'struct<url: string>', true],
  [{ url: 'https://images.example/1' }, 'x', 'struct<url: string>', false],
  [{ url: 'https://images.example/1', mime_type: 'image/png' }, 'x', 'struct<url: string>', true],
  [{ url: 'https://images.example/1.png', mime_type: 'audio/wav' }, 'image', 'image', false],
  [{ url: 1 }, 'image', 'image', false],
  ['https://images.example/1', 'image_url', 'string', true],
  ['https://images.example/1', 'imagery', 'string', false],
  ['https://images.example/1.png', 'x', 'string', true],
  ['https://images.example/1', 'homepage', 'string', false],
  [['https://images.example/1.png'], 'image', 'list<string>', false],
  [null, 'image', 'image', false],
] as const)('finds the image of the cell %j in the column %s of %s: %s', (value, name, dtype, isImage) => {
  expect(imageAddressOfCell(value as never, { name, dtype }) !== undefined).toBe(isImage);
});
