import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { createClient } from '../../../src/store/postgres/client.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import { throughLine } from '../server-address.ts';
import { startTcpProxy } from '../tcp-proxy.ts';
import { createTestDatabase } from '../template-db.ts';

const PASSWORD = 'the-password-of-the-database';
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Listens in place of the database, and responds to a client's first message with these. */
async function impostor(...messages: Buffer[]): Promise<{ url: string; received: () => string }> {
  let received = '';
  const own = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      if (received === '') for (const message of messages) socket.write(message);
      received += bytes.toString('latin1');
    });
  });
  servers.push(own);
  own.listen(0, '127.0.0.1');
  await once(own, 'listening');
  const { port } = own.address() as AddressInfo;
  return {
    url: `postgresql://svc:${PASSWORD}@127.0.0.1:${port}/svc?sslmode=disable`,
    received: () => received,
  };
}

function authentication(code: number, rest = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.write('R');
  head.writeInt32BE(8 + rest.length, 1);
  head.writeInt32BE(code, 5);
  return Buffer.concat([head, rest]);
}
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

// Each of them waits for a time-out.
it.concurrent.each([
  ['the password in clear text', [authentication(3)]],
  ['it as an MD5 hash', [authentication(5, Buffer.from('salt'))]],
  ['nothing', [authentication(0), ready]],
  ['to have had it already', [authentication(12, Buffer.from('v=AAAA')), authentication(0), ready]],
])('a server that wants %s gets nothing', async (_, messages) => {
  const { url, received } = await impostor(...messages);
  for (const connect of [
    (at: string) => createClient({ url: at }, { connectionTimeoutMillis: 2_000 }).connect(),
    (at: string) => createPool({ url: at, size: 1 }).query("SELECT 'a prompt'"),
  ]) {
    await expect(connect(`${url}&require_auth=scram-sha-256`)).rejects.toThrow();
  }
  expect(received()).toContain('svc');
  expect(received()).not.toContain(PASSWORD);
  expect(received()).not.toContain('md5');
  expect(received()).not.toContain('a prompt');
});

it('the impostor is one: without the requirement the password is sent', async () => {
  const { url, received } = await impostor(authentication(3));
  createClient({ url }, { connectionTimeoutMillis: 1_000 })
    .connect()
    .catch(() => undefined);
  await expect.poll(received).toContain(PASSWORD);
});

it('a server that knows the password too is logged in to', async () => {
  const database = await createTestDatabase();
  const line = await startTcpProxy(database.url);
  try {
    const client = createClient({
      url: `${throughLine(database.url, line)}?require_auth=scram-sha-256`,
      applicationName: 'proved',
    });
    await client.connect();
    const { rows } = await client.query("SELECT current_setting('application_name') AS name");
    expect(rows).toEqual([{ name: 'proved' }]);
    await client.end();
  } finally {
    await line[Symbol.asyncDispose]();
    await database.drop();
  }
});
