import { createServer, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardConnections } from './guard-connections.ts';

let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer((_request, response) => response.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

/** A resolver that gives each name its addresses, one list after another. */
function resolver(names: Record<string, string[][]>): LookupFunction {
  return (host, _options, done) => {
    const lists = names[host]!;
    const addresses = lists.length > 1 ? lists.shift()! : lists[0]!;
    (done as (error: null, found: unknown) => void)(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

async function reach(agent: Agent, url: string): Promise<string> {
  try {
    const answer = await request(url, { dispatcher: agent });
    return await answer.body.text();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const open = (endpoint: string, names: Record<string, string[][]>): Agent =>
  new Agent({ connect: guardConnections(new URL(endpoint), { timeoutMs: 300 }, resolver(names)) });

describe('guardConnections', () => {
  it('keeps a public hub from private addresses, however they are named', async () => {
    const agent = open('http://93.184.216.34/', {
      'inside.example': [['127.0.0.1']],
      'both.example': [['127.0.0.1', '::1']],
      localhost: [['127.0.0.1']],
    });
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
      'inside.example',
      'both.example',
    ]) {
      expect([host, await reach(agent, `http://${host}:${port}/`)]).toEqual([host, 'hub_bad_response']);
    }
    await agent.destroy();
  });

  it('lets a private hub lead to private addresses', async () => {
    const agent = open(`http://127.0.0.1:${port}`, { 'inside.example': [['127.0.0.1']] });
    for (const host of ['127.0.0.1', 'inside.example']) {
      expect(await reach(agent, `http://${host}:${port}/`)).toBe('reached');
    }
    await agent.destroy();
  });

  it('keeps a private hub from link-local addresses, unless it has one itself', async () => {
    const names = { 'inside.example': [['169.254.169.254']] };
    const agent = open(`http://127.0.0.1:${port}`, names);
    for (const host of ['169.254.169.254', '[::ffff:a9fe:a9fe]', 'inside.example'])
      expect([host, await reach(agent, `http://${host}:${port}/`)]).toEqual([host, 'hub_bad_response']);
    await agent.destroy();

    const linkLocal = open(`http://169.254.1.2:${port}`, names);
    expect(await reach(linkLocal, `http://169.254.1.2:${port}/`)).not.toBe('hub_bad_response');
    expect(await reach(linkLocal, `http://169.254.1.3:${port}/`)).toBe('hub_bad_response');
    await linkLocal.destroy();
  });

  it('takes a hub by name for what it is found to be first', async () => {
    const names = { 'hub.example': [['127.0.0.1']], 'storage.example': [['127.0.0.1']] };
    const inside = open(`http://hub.example:${port}`, names);
    expect(await reach(inside, `http://hub.example:${port}/`)).toBe('reached');
    expect(await reach(inside, `http://storage.example:${port}/`)).toBe('reached');
    await inside.destroy();

    // A public hub whose name means this machine the next time.
    const rebinding = open(`http://hub.example:${port}`, { 'hub.example': [['192.0.2.1'], ['127.0.0.1']] });
    expect(await reach(rebinding, `http://hub.example:${port}/`)).not.toBe('reached');
    expect(await reach(rebinding, `http://hub.example:${port}/`)).toBe('hub_bad_response');
    await rebinding.destroy();
  });

  it('connects to the address that it has looked at', async () => {
    const agent = open('http://93.184.216.34/', { 'mixed.example': [['192.0.2.1', '127.0.0.1']] });
    // Only the public one is left, where no server listens.
    expect(await reach(agent, `http://mixed.example:${port}/`)).not.toBe('reached');
    await agent.destroy();
  });
});
