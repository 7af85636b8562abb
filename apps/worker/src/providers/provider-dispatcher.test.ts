import { createServer } from 'node:http';
import { type AddressInfo, connect, type LookupFunction } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProviderDispatcher, ForbiddenDestination } from './provider-dispatcher.ts';
import { connectionError } from './send-request.ts';

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

describe('with a proxy of the environment', () => {
  let proxyPort: number;
  let connects: string[];
  const proxy = createServer();
  beforeAll(async () => {
    proxy.on('connect', (request, socket) => {
      connects.push(request.url ?? '');
      // It resolves names itself.
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        onward.pipe(socket);
        socket.pipe(onward);
      });
      for (const end of [onward, socket]) end.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    proxyPort = (proxy.address() as AddressInfo).port;
  });
  afterAll(() => proxy.close());
  beforeEach(() => {
    connects = [];
    for (const name of ['http_proxy', 'https_proxy', 'HTTPS_PROXY']) vi.stubEnv(name, undefined);
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${proxyPort}`);
    vi.stubEnv('no_proxy', 'direct.example');
  });
  afterEach(() => vi.unstubAllEnvs());

  const unresolved: LookupFunction = (_hostname, _options, callback) =>
    callback(Object.assign(new Error('looked up'), { code: 'ENOTFOUND' }), []);

  it('reaches models through it, whose names it resolves', async () => {
    expect(await ask('http://model.corp.invalid:8000', { lookup: unresolved })).toBe('here');
    await ask('https://model.corp.invalid', { lookup: unresolved });
    expect(connects).toEqual(['model.corp.invalid:8000', 'model.corp.invalid:443']);
  });

  it('reaches the hosts of NO_PROXY directly, by the rules for addresses', async () => {
    const lookup = resolving(['127.0.0.1']);
    expect(await ask(`http://direct.example:${port}`, { lookup })).toBe('here');
    expect(await ask(`http://direct.example:${port}`, { lookup: resolving(['169.254.1.1']) })).toBe(
      'forbidden',
    );
    expect(connects).toEqual([]);
  });

  it.each<[string, Partial<Parameters<typeof createProviderDispatcher>[0]>]>([
    ['http://169.254.169.254', {}],
    ['https://169.254.169.254', {}],
    ['http://[fe80::1]:8080', {}],
    ['http://[::ffff:169.254.169.254]', {}],
    ['http://0xa9fea9fe', {}],
    ['http://other.example', { allowedHosts: ['model.example'] }],
    ['http://model.example:81', { allowedHosts: ['model.example:80'] }],
  ])('asks it for no forbidden destination: %s', async (origin, options) => {
    expect(await ask(new URL(origin).origin, options)).toBe('forbidden');
    expect(connects).toEqual([]);
  });

  it('says that the proxy cannot be reached, without its address', async () => {
    vi.stubEnv('HTTP_PROXY', 'http://me:secret@127.0.0.1:1');
    const dispatcher = createProviderDispatcher({ allowedHosts: null });
    const cause: unknown = await dispatcher
      .request({ origin: 'http://model.example', path: '/', method: 'GET' })
      .catch((error: unknown) => error);
    await dispatcher.destroy();
    const { error, retry } = connectionError(cause);
    expect(error).toMatchObject({ code: 'provider_unavailable', endsRun: false });
    expect(error.message).toBe('Cannot connect to the proxy of the worker.');
    expect(retry).toBeDefined();
  });

  it('refuses one that is no address, without repeating it', () => {
    vi.stubEnv('HTTP_PROXY', 'ftp://me:secret@proxy.example');
    const message = 'HTTP_PROXY and HTTPS_PROXY must be addresses, such as http://proxy.example:3128.';
    expect(() => createProviderDispatcher({ allowedHosts: null })).toThrow(message);
  });
});
