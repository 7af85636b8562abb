import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
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

it.skipIf(process.platform !== 'linux')(
  'keeps connections for another request while they leave file descriptors to all else',
  async () => {
    const program = `
      const { startHttpServer } = await import(${JSON.stringify(new URL('./http-server.ts', import.meta.url))});
      const { url } = await startHttpServer({
        app: (_request, response) => response.end(),
        host: '127.0.0.1',
        port: 0,
        variables: {},
        headersTimeoutMs: 60_000,
        logger: { log: () => {} },
      });
      console.log(new URL(url).port);`;
    const limited = [
      '-c',
      'ulimit -n 80; exec "$@"',
      'bash',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ];
    const server = spawn('bash', limited, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void server.kill());
    const [port] = await once(server.stdout, 'data');
    const kept: boolean[] = [];
    for (let count = 1; count <= 20; count += 1) {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      onTestFinished(() => void socket.destroy());
      const [response] = await once(socket, 'data');
      kept.push(!String(response).includes('Connection: close'));
    }
    // those that the server closes make no room for others to be kept
    expect(kept).toEqual(Array.from({ length: 20 }, (_, index) => index < 10));
  },
);
