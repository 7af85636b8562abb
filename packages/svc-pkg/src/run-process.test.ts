import { expect, it } from 'vitest';
import { proxyAddress } from './run-process.ts';

it.each([
  [undefined, undefined],
  ['', undefined],
  ['http://proxy.example:3128', 'http://proxy.example:3128'],
  ['https://me:secret@proxy.example', 'https://me:secret@proxy.example'],
  ['proxy.example:3128', 'http://proxy.example:3128'],
  ['me:secret@proxy.example:3128', 'http://me:secret@proxy.example:3128'],
  ['[::1]:3128', 'http://[::1]:3128'],
  ['socks5://127.0.0.1:1080', 'socks5://127.0.0.1:1080'],
])('reads %j as %j', (value, address) => expect(proxyAddress('HTTPS_PROXY', value)).toBe(address));

it.each(['ftp://me:secret@proxy.example', 'http://', 'http://me:secret@:1', 'a b', 'secret:::'])(
  'refuses %j, by the name of its variable',
  (value) => {
    const message = 'HTTPS_PROXY must be the address of a proxy, such as http://proxy.example:3128';
    expect(() => proxyAddress('HTTPS_PROXY', value)).toThrow(
      expect.objectContaining({ code: 'usage', message }),
    );
  },
);
