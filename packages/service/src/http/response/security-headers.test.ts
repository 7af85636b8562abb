import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { securityHeaders } from '../create-app.ts';

let port: number;
const server = createServer(
  express()
    .disable('x-powered-by')
    .use(securityHeaders(true))
    .use((_request, response) => void response.end()),
);
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What a request for a host gets, by lower-case name. */
const headersFor = (host: string, more: Record<string, string> = {}): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', headers: { host, ...more }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.headers));
    })
      .on('error', reject)
      .end();
  });

const HTTPS = { 'x-forwarded-proto': 'https' };
const COMMON = {
  'content-security-policy': expect.stringContaining("default-src 'self'"),
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};

describe('securityHeaders', () => {
  it.each([
    'localhost',
    'localhost:80',
    'LOCALHOST.',
    'a.localhost',
    '127.0.0.1',
    '127.9.9.9:8080',
    '[::1]:80',
  ])('isolates pages of %s over plain HTTP', async (host) => {
    const headers = await headersFor(host);
    expect(headers).toMatchObject({ ...COMMON, 'cross-origin-opener-policy': 'same-origin' });
    expect(headers).not.toHaveProperty('strict-transport-security');
    expect(headers['content-security-policy']).not.toContain('upgrade-insecure-requests');
  });

  it.each([
    'console.example',
    '192.168.1.5:8080',
    '[fe80::1]',
    'localhost.example',
    '127.example',
    '0.0.0.0',
  ])('sends no header that browsers would ignore to %s over plain HTTP', async (host) => {
    const headers = await headersFor(host);
    expect(headers).toMatchObject(COMMON);
    expect(headers).not.toHaveProperty('cross-origin-opener-policy');
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  it('insists on HTTPS for this host alone over HTTPS', async () => {
    const headers = await headersFor('console.example', HTTPS);
    expect(headers).toMatchObject({
      ...COMMON,
      'cross-origin-opener-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
      'content-security-policy': expect.stringContaining('upgrade-insecure-requests'),
    });
  });
});
