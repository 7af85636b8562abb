import { execFileSync } from 'node:child_process';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Agent as Agent7, fetch as fetch7, MockAgent } from 'undici';
import { Agent as Agent6, fetch as fetch6 } from 'undici-6';
import { Agent as Agent8, fetch as fetch8 } from 'undici-8';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHubClient, type HubClientOptions } from '../src/index.ts';
import { type FakeHub, startFakeHub } from './fake-hub.ts';

let hub: FakeHub;
const text = Array.from({ length: 20_000 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(200)}"}\n`).join('');

beforeEach(async () => {
  hub = await startFakeHub({ id: 'o/d', files: { 'train.jsonl': text } });
});
afterEach(() => hub.close());

async function rows(options: HubClientOptions, limit?: number): Promise<number> {
  await using client = createHubClient({
    endpoint: hub.endpoint,
    retry: { maxRetries: 1, baseDelayMs: 1 },
    ...options,
  });
  const selection = await (await client.openDataset({ path: 'o/d' })).select();
  let count = 0;
  for await (const _ of selection.rows({ limit })) count += 1;
  return count;
}

const agent6 = new Agent6();
const agent7 = new Agent7();
const agent8 = new Agent8();
afterAll(() => Promise.all([agent6, agent7, agent8].map((agent) => agent.close())));

describe.each<[string, HubClientOptions]>([
  ['a dispatcher of undici 7', { dispatcher: agent7 }],
  ['the fetch of undici 6', { fetch: (url, init) => fetch6(url, { ...init, dispatcher: agent6 }) }],
  ['the fetch of undici 7', { fetch: (url, init) => fetch7(url, { ...init, dispatcher: agent7 }) }],
  ['the fetch of undici 8', { fetch: (url, init) => fetch8(url, { ...init, dispatcher: agent8 }) }],
])('%s', (_name, transport) => {
  it('carries every request, whole and left early, after faults and aborts', async () => {
    expect(await rows(transport)).toBe(20_000);
    expect(await rows(transport, 3)).toBe(3);
    hub.fail({ match: /resolve|lfs/, fault: { kind: 'cut', afterBytes: 200_000 }, times: 1 });
    expect(await rows(transport)).toBe(20_000);
    hub.fail({ match: /\/api\//, fault: { kind: 'garbage' } });
    await expect(rows(transport)).rejects.toMatchObject({ code: 'hub_bad_response' });
    hub.forget();

    await using client = createHubClient({ endpoint: hub.endpoint, ...transport });
    const selection = await (await client.openDataset({ path: 'o/d' })).select();
    const abort = new AbortController();
    const reason = new Error('enough');
    let seen = 0;
    const reading = (async () => {
      for await (const _ of selection.rows({ signal: abort.signal })) {
        seen += 1;
        if (seen === 5) abort.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen).toBe(5);

    hub.fail({ match: /\/api\//, fault: { kind: 'silent' } });
    const silent = client.openDataset({ path: 'o/d', signal: AbortSignal.timeout(50) });
    await expect(silent).rejects.toMatchObject({ name: 'TimeoutError' });
    await client.close();
    // It stays the caller's, and open.
    hub.forget();
    expect(await rows(transport, 1)).toBe(1);
  });
});

it('reads web streams that cannot be iterated over, as in older browsers', async () => {
  const body = (response: Response): ReadableStream<Uint8Array> | null => {
    if (response.body !== null)
      Object.defineProperty(response.body, Symbol.asyncIterator, { value: undefined });
    return response.body;
  };
  const count = await rows({
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const { status, type, headers } = response;
      return { status, type, headers, url: response.url, body: body(response) };
    },
  });
  expect(count).toBe(20_000);
});

it('takes a mock', async () => {
  const mock = new MockAgent();
  mock.disableNetConnect();
  mock.get('http://hub.test').intercept({ path: /.*/ }).reply(404, 'no').persist();
  const client = createHubClient({ endpoint: 'http://hub.test', dispatcher: mock });
  await expect(client.openDataset({ path: 'o/d' })).rejects.toMatchObject({ code: 'hub_dataset_not_found' });
});

describe('proxies of the environment', () => {
  let proxy: Server;
  let asked: string[];
  let credentials: string | undefined;
  let refuses: boolean;
  const kept = { ...process.env };

  beforeEach(async () => {
    asked = [];
    refuses = false;
    proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const { method, headers } = request;
      const onward = httpRequest(request.url ?? '', { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    proxy.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      credentials = request.headers['proxy-authorization'];
      if (refuses) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      const [host = '', port] = (request.url ?? '').split(':');
      const onward = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        onward.pipe(socket);
        socket.pipe(onward);
      });
      for (const end of [onward, socket]) end.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']) {
      if (kept[name] === undefined) delete process.env[name];
      else process.env[name] = kept[name];
    }
    proxy.closeAllConnections();
    proxy.close();
  });

  it('carry requests, except to the hosts of NO_PROXY', async () => {
    process.env['http_proxy'] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    process.env['no_proxy'] = '';
    expect(await rows({}, 3)).toBe(3);
    for (const origin of [hub.endpoint, hub.storageOrigin])
      expect(asked.join()).toContain(new URL(origin).host);
    asked = [];
    process.env['no_proxy'] = '127.0.0.1,localhost';
    expect(await rows({}, 3)).toBe(3);
    process.env['no_proxy'] = '';
    expect(await rows({ dispatcher: new Agent7() }, 3)).toBe(3);
    expect(asked).toEqual([]);
  });

  it('are named by their variables where they are no addresses', () => {
    process.env['http_proxy'] = 'ftp://me:secret@proxy.example';
    const message = 'HTTP_PROXY and HTTPS_PROXY must be addresses, such as http://proxy.example:3128.';
    expect(() => createHubClient({ endpoint: hub.endpoint })).toThrow(
      expect.objectContaining({ code: 'invalid_request', message }),
    );
  });

  it('are named without their credentials where they cannot be reached', async () => {
    const { port } = proxy.address() as AddressInfo;
    await new Promise((resolve) => proxy.close(resolve));
    process.env['http_proxy'] = `http://me:secret@127.0.0.1:${port}`;
    process.env['no_proxy'] = '';
    await expect(rows({})).rejects.toMatchObject({
      code: 'hub_unavailable',
      message: `Cannot reach the proxy 127.0.0.1:${port}, or it closed the connection.`,
    });
  });

  it('carry HTTPS in tunnels that they cannot look into', async ({ skip }) => {
    const identity = selfSigned();
    if (identity === undefined) return skip('no openssl');
    const { host, port: hubPort } = new URL(hub.endpoint);
    const secure = createTlsServer(identity, (request, response) => {
      const { method, url: path, headers } = request;
      const onward = httpRequest({ host: '127.0.0.1', port: hubPort, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const authorities = getCACertificates('default');
    setDefaultCACertificates([...authorities, identity.cert]);
    try {
      const { port } = secure.address() as AddressInfo;
      const endpoint = `https://127.0.0.1:${port}`;
      process.env['https_proxy'] = `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      process.env['no_proxy'] = '';
      hub.add({
        id: 'o/d',
        files: { 'train.jsonl': '{"n":1}\n{"n":2}\n' },
        access: 'private',
        readers: ['hf_t'],
      });
      expect(await rows({ endpoint, token: 'hf_t' })).toBe(2);
      expect(new Set(asked)).toEqual(new Set([`CONNECT 127.0.0.1:${port}`]));
      expect(credentials).toBe(`Basic ${btoa('me:secret')}`);
      expect(hub.requests.length).toBeGreaterThan(2);
      expect(hub.requests.map(({ headers }) => headers['proxy-authorization'])).not.toContain(credentials);
      expect(host).not.toBe(`127.0.0.1:${port}`);
      refuses = true;
      await expect(rows({ endpoint, token: 'hf_t' })).rejects.toMatchObject({ code: 'hub_unavailable' });
    } finally {
      setDefaultCACertificates(authorities);
      secure.closeAllConnections();
      secure.close();
    }
  });
});

/** A key and a certificate for the loopback address; undefined without openssl. */
function selfSigned(): { key: string; cert: string } | undefined {
  try {
    const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const name = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', '-', '-out', '-'];
    const made = execFileSync('openssl', ['req', '-x509', ...options, ...name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const part = (label: string) =>
      new RegExp(`-----BEGIN ${label}-----[^]*?-----END ${label}-----\\n`).exec(made)?.[0] ?? '';
    return { key: part('PRIVATE KEY'), cert: part('CERTIFICATE') };
  } catch {
    return undefined;
  }
}
