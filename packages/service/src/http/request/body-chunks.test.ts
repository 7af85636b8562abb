import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request } from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { bodyChunks } from './read-body.ts';

/** The server's side of a request whose body never ends, however fast it is read. */
async function openEndlessRequest(): Promise<Request> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = send({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method: 'POST' });
  client.on('error', () => undefined);
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const chunk = Buffer.alloc(64 * 1024);
  const write = (): void => {
    while (!client.destroyed && client.write(chunk));
  };
  client.on('drain', write);
  write();
  const [request] = await once(server, 'request');
  return request;
}

it('makes the client wait while no chunk is taken', async () => {
  const request = await openEndlessRequest();
  const chunks = bodyChunks(request, new AbortController().signal);
  await chunks.next();
  // As many turns of the event loop as would bring in hundreds of megabytes.
  let seenBytes = -1;
  while (request.socket.bytesRead !== seenBytes) {
    seenBytes = request.socket.bytesRead;
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seenBytes).toBeLessThan(8 * 1024 * 1024);
  await chunks.return(undefined);
});

it('ends with the reason of its signal', async () => {
  const reason = new Error('the body is late');
  const controller = new AbortController();
  const chunks = bodyChunks(await openEndlessRequest(), controller.signal);
  await chunks.next();
  controller.abort(reason);
  await expect(async () => {
    for await (const _ of chunks);
  }).rejects.toBe(reason);
});
