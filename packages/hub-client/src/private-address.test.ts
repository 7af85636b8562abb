import { describe, expect, it } from 'vitest';
import { isLinkLocalAddress, isPrivateAddress } from './private-address.ts';

describe('isPrivateAddress', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
  ])('%s is private', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each([
    '1.1.1.1',
    '11.0.0.1',
    '100.128.0.1',
    '128.0.0.1',
    '169.253.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2002:101:101::1',
    'localhost',
    '',
  ])('%s is not', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });

  it('knows link-local ones', () => {
    expect(['169.254.169.254', 'fe80::1', '::ffff:169.254.1.1'].map(isLinkLocalAddress)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['127.0.0.1', '10.0.0.1', '::1'].map(isLinkLocalAddress)).toEqual([false, false, false]);
  });
});
