import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { addressOf, schemeOf } from './hosts.ts';

const arrived = (headers: Record<string, string>): IncomingMessage =>
  ({ headers, socket: { remoteAddress: '10.0.0.1' } }) as unknown as IncomingMessage;

it.each([
  ['https', true, 'https'],
  ['HTTPS', true, 'https'],
  ['http, https', true, 'https'],
  // clients can forge the entries before the last one
  ['https, http', true, 'http'],
  ['https', false, 'http'],
  ['', true, 'http'],
  ['wss', true, 'http'],
])('X-Forwarded-Proto: %s, trusted %s: %s', (proto, trust, scheme) => {
  expect(schemeOf(arrived({ 'x-forwarded-proto': proto }), trust)).toBe(scheme);
});

it.each([
  ['192.0.2.1', true, '192.0.2.1'],
  ['203.0.113.9, 192.0.2.1', true, '192.0.2.1'],
  ['192.0.2.1', false, '10.0.0.1'],
  ['', true, '10.0.0.1'],
  [`${'x'.repeat(10_000)},192.0.2.1`, true, '192.0.2.1'],
])('X-Forwarded-For, trusted %s', (list, trust, address) => {
  expect(addressOf(arrived({ 'x-forwarded-for': list }), trust)).toBe(address);
});
