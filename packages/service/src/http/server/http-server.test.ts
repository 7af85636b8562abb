import { expect, it } from 'vitest';
import { createLogger } from '../../telemetry/create-logger.ts';
import { createMetrics } from '../../telemetry/create-metrics.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';

function start(port: number, host = '127.0.0.1'): Promise<HttpServer> {
  return startHttpServer({
    app: (_request, response) => void response.end('ok'),
    host,
    port,
    variables: { host: 'SVC_HOST', port: 'SVC_PORT' },
    headersTimeoutMs: 1000,
    version: '0.0.0-test',
    logger: createLogger({ service: 'svc-api', level: 'error', secrets: [], write: () => undefined }),
    metrics: createMetrics({ version: '0.0.0-test', collectProcessMetrics: false }),
  });
}

it('names the address that is in use, and the variable to change', async () => {
  const server = await start(0);
  const { port } = new URL(server.url);
  await expect(start(Number(port))).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set SVC_PORT to another port.`,
  );
  await server.close();
});

it('names an address that this machine does not have', async () => {
  await expect(start(0, '192.0.2.1')).rejects.toThrow(
    'Cannot listen on 192.0.2.1:0: this machine does not have the address. Set SVC_HOST to one that it has.',
  );
});

it('drains: responds to running requests, and takes no new ones', async () => {
  const server = await start(0);
  expect(await (await fetch(server.url)).text()).toBe('ok');
  await server.drain(AbortSignal.timeout(10_000));
  await server.close();
  await expect(fetch(server.url)).rejects.toThrow('fetch failed');
});
