import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProviderDispatcher, ForbiddenDestination } from './provider-dispatcher.ts';

let port: number;
let asked = 0;
const server = createServer((_request, response) => {
  asked += 1;
  response.end('here');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A name server with one response after the other. */
function resolving(...responses: readonly (readonly string[])[]): LookupFunction {
  let index = 0;
  return (_hostname, _options, callback) => {
    const addresses = responses[Math.min(index++, responses.length - 1)] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

async function ask(
  origin: string,
  options: Partial<Parameters<typeof createProviderDispatcher>[0]> = {},
): Promise<string> {
  const dispatcher = createProviderDispatcher({ allowedHosts: null, ...options });
  try {
    const response = await dispatcher.request({ origin, path: '/', method: 'GET' });
    return await response.body.text();
  } catch (error) {
    return error instanceof ForbiddenDestination ? 'forbidden' : (error as Error).name;
  } finally {
    await dispatcher.destroy();
  }
}

describe('a provider dispatcher', () => {
  it.each([
    'http://169.254.169.254',
    'https://169.254.169.254',
    'http://[fe80::1]:8080',
    'http://[::ffff:169.254.169.254]',
  ])('does not connect to %s', async (origin) => expect(await ask(origin)).toBe('forbidden'));

  it.each([
    [['169.254.1.1'], 'forbidden'],
    [['fe80::1'], 'forbidden'],
    [['::ffff:169.254.1.1'], 'forbidden'],
    [['169.254.1.1', 'fe80::1'], 'forbidden'],
    [['169.254.1.1', '127.0.0.1'], 'here'],
    [['127.0.0.1'], 'here'],
  ])('of a name that is %j: %s', async (addresses, outcome) => {
    const lookup = resolving(addresses);
    expect(await ask(`http://name.example:${port}`, { lookup })).toBe(outcome);
    expect(await ask(`https://name.example:${port}`, { lookup })).not.toBe('here');
  });

  it('checks the name again for each connection', async () => {
    const dispatcher = createProviderDispatcher({
      allowedHosts: null,
      lookup: resolving(['127.0.0.1'], ['169.254.1.1']),
    });
    const request = () =>
      dispatcher.request({
        origin: `http://name.example:${port}`,
        path: '/',
        method: 'GET',
        headers: { connection: 'close' },
      });
    const before = asked;
    await (await request()).body.text();
    await expect(request()).rejects.toBeInstanceOf(ForbiddenDestination);
    expect(asked - before).toBe(1);
    await dispatcher.destroy();
  });

  it.each<[string[], (port: number) => string, string]>([
    [['127.0.0.1'], (one) => `http://127.0.0.1:${one}`, 'here'],
    [['127.0.0.1:PORT'], (one) => `http://127.0.0.1:${one}`, 'here'],
    [['127.0.0.1:1'], (one) => `http://127.0.0.1:${one}`, 'forbidden'],
    [['localhost'], (one) => `http://127.0.0.1:${one}`, 'forbidden'],
    [['other.example'], () => 'https://name.example', 'forbidden'],
    [['[::1]:443'], () => 'http://[::1]', 'forbidden'],
    [['169.254.1.1'], () => 'http://169.254.1.1', 'forbidden'],
  ])('with the allowed hosts %j', async (hosts, origin, outcome) => {
    const allowedHosts = hosts.map((host) => host.replace('PORT', String(port)));
    expect(await ask(origin(port), { allowedHosts })).toBe(outcome);
  });

  it.each([
    ['name.example:443', 'https://name.example'],
    ['name.example:80', 'http://name.example'],
    ['[::1]:80', 'http://[::1]'],
  ])('uses the default port of a scheme: %s is %s', async (host, origin) => {
    const lookup: LookupFunction = (_hostname, _options, callback) => callback(new Error('looked up'), []);
    const outcome = await ask(origin, { allowedHosts: [host], lookup });
    expect(outcome).not.toBe('forbidden');
  });
});
