import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createHostCheck, type HostCheckOptions } from './hosts.ts';

const arrived = (hosts: readonly string[], more: Partial<Record<string, unknown>> = {}): IncomingMessage =>
  ({
    rawHeaders: hosts.flatMap((host) => ['hOsT', host]),
    url: '/datasets',
    httpVersion: '1.1',
    socket: { localAddress: '127.0.0.1', localPort: 8080, ...(more['socket'] as object) },
    ...(more['request'] as object),
  }) as unknown as IncomingMessage;

const check = (
  host: string | readonly string[],
  options: Partial<HostCheckOptions> = {},
  more: Parameters<typeof arrived>[1] = {},
  scheme: 'http' | 'https' = 'http',
): string => {
  const verdict = createHostCheck({
    listenHost: '127.0.0.1',
    allowedHosts: [],
    isKeyed: false,
    ...options,
  })(arrived([host].flat(), more), scheme);
  return 'refused' in verdict ? verdict.refused : `${verdict.authority.name} ${verdict.authority.port}`;
};

describe('without keys', () => {
  it.each([
    ['localhost:8080', 'localhost 8080'],
    ['LOCALHOST.:8080', 'localhost 8080'],
    ['127.0.0.1:08080', '127.0.0.1 8080'],
    ['127.255.255.255:8080', '127.255.255.255 8080'],
    ['[::1]:8080', '[::1] 8080'],
    ['[0000:0:0:0:0:0:0.0.0.1]:8080', '[::1] 8080'],
    // ports that are forwarded to this one
    ['localhost:9000', 'localhost 9000'],
    ['localhost', 'localhost 80'],
    ['localhost:', 'localhost 80'],
    ['127.0.0.1:1', '127.0.0.1 1'],
    ['[::1]:9000', '[::1] 9000'],
  ])('accepts %s', (host, found) => expect(check(host)).toBe(found));

  it.each([
    'evil.example:8080',
    'localhost..:8080',
    'a.localhost:8080',
    '127.0.0.1.nip.io:8080',
    '127.1:8080',
    '0x7f.0.0.1:8080',
    '127.0.0.01:8080',
    '128.0.0.1:8080',
    '[::ffff:127.0.0.1]:8080',
    '192.168.1.2:8080',
    '0.0.0.0:8080',
    '',
    ':8080',
  ])('%j is not', (host) => expect(check(host)).toBe('misdirected_request'));

  it.each([
    ...['user@localhost:8080', 'localhost:8080/', 'http://localhost:8080', 'localhost:8080, localhost:8080'],
    ...[
      'localhost:80800',
      'localhost:8080:8080',
      '[::1',
      '[::1]8080',
      '[::g]:8080',
      'caf\u00e9:8080',
      'a b',
      '[v1.x]',
    ],
  ])('rejects %j as a host', (host) => expect(check(host)).toBe('invalid_request'));

  it('requires one Host, rejects two equal ones, and rejects none in HTTP/1.0', () => {
    expect(check(['localhost:8080', 'localhost:8080'])).toBe('invalid_request');
    expect(check([])).toBe('invalid_request');
    expect(check([], {}, { request: { httpVersion: '1.0' } })).toBe('misdirected_request');
  });

  it('at its default port a host needs none', () => {
    const at = (localPort: number) => ({ socket: { localPort } });
    expect(check('localhost', {}, at(80))).toBe('localhost 80');
    expect(check('localhost:80', {}, at(80))).toBe('localhost 80');
    expect(check('localhost', {}, at(443), 'https')).toBe('localhost 443');
  });

  it('an absolute target is as good as its host, and its Host too', () => {
    const target = (url: string) => ({ request: { url } });
    expect(check('127.0.0.1:8080', {}, target('http://localhost:8080/x'))).toBe('localhost 8080');
    for (const url of ['http://evil.example/', 'HTTP://evil.example:8080?x', 'ws://evil.example'])
      expect(check('127.0.0.1:8080', {}, target(url))).toBe('misdirected_request');
    for (const url of ['http://a@localhost:8080/', 'http://localhost:8080\\@evil.example/'])
      expect(check('127.0.0.1:8080', {}, target(url))).toBe('invalid_request');
    expect(check('evil.example', {}, target('http://localhost:8080/'))).toBe('misdirected_request');
    expect(check('127.0.0.1:8080', {}, target('/http://evil.example/'))).toBe('127.0.0.1 8080');
  });

  it('accepts the listening address in any spelling', () => {
    expect(check('192.168.1.2:8080', { listenHost: '192.168.1.2' })).toBe('192.168.1.2 8080');
    expect(check('MyHost:8080', { listenHost: 'myhost.' })).toBe('myhost 8080');
    expect(check('[FE80::1]:8080', { listenHost: 'fe80:0::1%eth0' })).toBe('[fe80::1] 8080');
  });

  it.each([
    ['0.0.0.0', '10.1.2.3'],
    ['::', '::ffff:10.1.2.3'],
  ])('listening on %s accepts the address of the connection', (listenHost, localAddress) => {
    const more = { socket: { localAddress } };
    expect(check('10.1.2.3:8080', { listenHost }, more)).toBe('10.1.2.3 8080');
    expect(check('10.1.2.4:8080', { listenHost }, more)).toBe('misdirected_request');
    expect(check('10.1.2.3:8081', { listenHost }, more)).toBe('misdirected_request');
    expect(check('10.1.2.3:8080', {}, more)).toBe('misdirected_request');
    expect(check('evil.example:8080', { listenHost }, more)).toBe('misdirected_request');
  });

  it('accepts configured names, at every port or at one', () => {
    const allowedHosts = [
      { name: 'svc.example', port: undefined },
      { name: 'api', port: 9000 },
    ];
    expect(check('Svc.Example', { allowedHosts })).toBe('svc.example 80');
    expect(check('svc.example:1', { allowedHosts })).toBe('svc.example 1');
    expect(check('api:9000', { allowedHosts })).toBe('api 9000');
    expect(check('api:8080', { allowedHosts })).toBe('misdirected_request');
    expect(check('x.svc.example', { allowedHosts })).toBe('misdirected_request');
    expect(check('localhost:8080', { allowedHosts })).toBe('localhost 8080');
  });
});

describe('with keys', () => {
  it('checks names if some are configured, and always rejects an invalid host', () => {
    expect(check('any.example', { isKeyed: true })).toBe('any.example 80');
    expect(check('a@b', { isKeyed: true })).toBe('invalid_request');
    expect(check(['a', 'b'], { isKeyed: true })).toBe('invalid_request');
    const allowedHosts = [{ name: 'svc.example', port: undefined }];
    expect(check('any.example', { isKeyed: true, allowedHosts })).toBe('misdirected_request');
    expect(check('127.0.0.1:8080', { isKeyed: true, allowedHosts })).toBe('127.0.0.1 8080');
  });
});
