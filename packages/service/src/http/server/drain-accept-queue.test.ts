import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { drainAcceptQueue } from './http-server.ts';

it('takes every connection that is there already, so that closing the server resets none of them', async () => {
  const server = createServer((_request, response) => response.end('taken'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // the system accepts them while this process is busy opening them
  const responses = Array.from({ length: 50 }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    return text(socket);
  });
  // they are asked for only when this turn's callbacks run
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await drainAcceptQueue(server);
  server.close();
  for (const response of await Promise.all(responses)) expect(response).toMatch(/taken$/);
});
