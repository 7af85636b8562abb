import { expect, it } from 'vitest';
import { isForbiddenAddress } from './forbidden-address.ts';

it.each([
  '169.254.0.0',
  '169.254.169.254',
  '169.254.255.255',
  '::ffff:169.254.169.254',
  '[::ffff:a9fe:a9fe]',
  '::169.254.169.254',
  '::ffff:0:169.254.169.254',
  '[::ffff:0:a9fe:a9fe]',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1:a9fe:a9:fe00::',
  '2001:0:4136:e378:8000:63bf:5601:5601',
  '2001:db8::5efe:169.254.169.254',
  '64:ff9b:1::169.254.169.254',
  '2002:a9fe:a9fe::1',
  'fe80::1',
  '[fe80::1]',
  'fe80::1%eth0',
  'FEBF:ffff::',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '192.0.0.192',
  '::ffff:168.63.129.16',
  '64:ff9b::100.100.100.200',
])('%s is forbidden', (address) => expect(isForbiddenAddress(address)).toBe(true));

it.each([
  '127.0.0.1',
  '::1',
  '169.253.255.255',
  '169.255.0.0',
  '10.0.0.1',
  '192.168.1.1',
  'fec0::1',
  'fd00::1',
  '2001:db8::a9fe:a9fe',
  'metadata.google.internal',
  '',
])('%s is not', (address) => expect(isForbiddenAddress(address)).toBe(false));
