import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import express, { Router } from 'express';
import { describe, expect, it } from 'vitest';
import {
  createLogger,
  createMetrics,
  event,
  expressErrors,
  expressRequests,
  type Logger,
  type Metrics,
  observeRequest,
  runWithContext,
} from '../src/index.ts';

const TRACE = { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' };

interface Observed {
  readonly logger: Logger<{ 'order.read': { id: string }; 'http.request': RequestLine }>;
  readonly metrics: Metrics;
  readonly lines: Record<string, unknown>[];
  /** Resolves with the line of the next request that ends. */
  nextRequest(): Promise<Record<string, unknown>>;
}
type RequestLine = Parameters<Parameters<typeof expressRequests>[0]['logger']['log']>[1];

function observed(): Observed {
  const lines: Record<string, unknown>[] = [];
  const waiting: ((line: Record<string, unknown>) => void)[] = [];
  const logger = createLogger({
    service: 'shop',
    events: { 'order.read': event<{ id: string }>() },
    write: (text) => {
      const line = JSON.parse(text);
      lines.push(line);
      if (line.event === 'http.request') waiting.shift()?.(line);
    },
  });
  const metrics = createMetrics({ prefix: 'shop', processMetrics: false });
  return { logger, metrics, lines, nextRequest: () => new Promise((resolve) => waiting.push(resolve)) };
}

async function listen(listener: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const PROGRAMS: Record<string, (o: Observed) => Promise<{ url: string } & AsyncDisposable>> = {
  async express({ logger, metrics }) {
    const app = express();
    app.use(expressRequests({ logger, metrics }));
    app.use(express.json());
    const orders = Router({ mergeParams: false });
    orders.get('/', (_request, response) => void response.send('all'));
    orders.post('/:id/lines', (request, response) => {
      logger.log('order.read', { id: request.params.id });
      response.status(201).json(request.body);
    });
    orders.get('/:id/wait', () => undefined);
    app.use('/shops/:shop/orders', orders);
    app.get('/id', (_request, response) => void response.send(response.getHeader('x-request-id')));
    app.get('/fault', () => {
      throw Object.assign(new Error('broken'), { code: 'OUT_OF_STOCK' });
    });
    app.use(expressErrors());
    app.use((_error: unknown, _request: express.Request, response: express.Response, _next: unknown) => {
      const { status = 500 } = _error as { status?: number };
      response.status(status).send('fault');
    });
    return await listen(app);
  },
  async 'node:http'({ logger, metrics }) {
    return await listen((request, response) => {
      const seen = observeRequest(request, response, { logger, metrics });
      const path = request.url ?? '';
      if (path.startsWith('/shops/')) {
        seen.setRoute(
          path.replace(
            /^(\/shops\/)[^/]+(\/orders)(\/)?[^/]*/,
            (_all, a, b, c) => `${a}:shop${b}${c ? '/:id' : ''}`,
          ),
        );
      } else if (path === '/fault') seen.setRoute(path);
      if (seen.idError !== undefined) return void response.writeHead(seen.idError.status).end();
      runWithContext(seen.context, async () => {
        if (path === '/id') return void response.end(seen.id);
        if (path.endsWith('/wait')) return;
        if (path === '/fault') {
          seen.setError(Object.assign(new Error('broken'), { code: 'OUT_OF_STOCK' }));
          response.writeHead(500).end('fault');
          return;
        }
        const chunks: Uint8Array[] = [];
        for await (const chunk of request) chunks.push(chunk);
        if (request.method === 'POST') logger.log('order.read', { id: path.split('/')[4] ?? '' });
        const status = path === '/none' ? 404 : request.method === 'POST' ? 201 : 200;
        response.writeHead(status).end(Buffer.concat(chunks));
      });
    });
  },
};

describe.each(Object.entries(PROGRAMS))('a program with %s', (_name, start) => {
  it('has ids, lines and metrics like the service', async () => {
    const o = observed();
    await using program = await start(o);
    const call = async (path: string, init: RequestInit = {}) => {
      const line = o.nextRequest();
      const response = await fetch(`${program.url}${path}`, init);
      await response.arrayBuffer();
      return { response, line: await line };
    };
    const body = JSON.stringify({ count: 2 });
    const post = await call('/shops/one/orders/7/lines', {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'client-7',
        traceparent: `00-${TRACE.trace_id}-${TRACE.span_id}-01`,
      },
    });
    expect([post.response.status, post.response.headers.get('x-request-id')]).toEqual([201, 'client-7']);
    const ids = { request_id: 'client-7', ...TRACE };
    expect(o.lines[0]).toMatchObject({ event: 'order.read', service: 'shop', ...ids, id: '7' });
    expect(post.line).toMatchObject({ event: 'http.request', level: 'info', ...ids });
    expect(Object.keys(post.line).slice(7)).toEqual([
      ...['method', 'route', 'status_code', 'duration_ms', 'bytes_in', 'bytes_out'],
    ]);
    expect(post.line).toMatchObject({
      ...{ method: 'POST', route: '/shops/:shop/orders/:id/lines', status_code: 201, bytes_in: body.length },
    });
    expect(post.line['bytes_out']).toBeGreaterThan(body.length);

    for (const shop of ['a', 'b', 'orders', 'two%20words', '%E4%B8%AD']) {
      const { line } = await call(`/shops/${shop}/orders`);
      expect(line).toMatchObject({
        route: expect.stringMatching(/^\/(?:shops|:shop)\/:shop\/(?:orders|:shop)\/?$/),
      });
      expect(line['request_id']).toMatch(/^[0-9a-f]{32}$/);
    }
    expect((await call('/none')).line).toMatchObject({ route: '__unmatched__', status_code: 404 });
    const fault = await call('/fault');
    expect(fault.line).toMatchObject({ route: '/fault', status_code: 500, code: 'OUT_OF_STOCK' });
    expect(o.lines.filter(({ event }) => event === 'http.error')).toMatchObject([
      {
        ...{ level: 'error', request_id: fault.line['request_id'], method: 'GET', route: '/fault' },
        ...{ status_code: 500, error: { name: 'Error', message: 'broken', stack: expect.any(String) } },
      },
    ]);

    const text = await o.metrics.render();
    expect(text).toContain(
      'shop_http_requests_total{method="POST",path="/shops/:shop/orders/:id/lines",status_code="201"} 1',
    );
    expect(text).toContain('shop_http_request_duration_seconds_count 8');
    expect(text).not.toMatch(/shop_http_requests_in_progress\{[^}]*\} [1-9]/);
    expect(text).not.toMatch(/two|%|中/);
  });

  it('passes an id on up to 1,024 characters, to the program too, and refuses a longer one', async () => {
    const o = observed();
    await using program = await start(o);
    const call = async (id: string): Promise<Response> =>
      await fetch(`${program.url}/id`, { headers: { 'x-request-id': id } });
    const longest = 'y'.repeat(1_024);
    const kept = await call(longest);
    expect([kept.status, await kept.text()]).toEqual([200, longest]);
    expect(kept.headers.get('x-request-id')).toBe(longest);
    const line = o.nextRequest();
    const refused = await call('x'.repeat(1_025));
    await refused.arrayBuffer();
    expect(refused.status).toBe(431);
    expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(await line).toMatchObject({
      status_code: 431,
      request_id: refused.headers.get('x-request-id'),
    });
  });

  it('counts a client that disconnects as 499, and shows it in progress until then', async () => {
    const o = observed();
    await using program = await start(o);
    const line = o.nextRequest();
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1');
    socket.write('GET /shops/one/orders/7/wait HTTP/1.1\r\nHost: x\r\n\r\n');
    const series = 'shop_http_requests_in_progress{method="GET",path="/shops/:shop/orders/:id/wait"}';
    await expect.poll(() => o.metrics.render()).toContain(`${series} 1`);
    socket.destroy();
    expect(await line).toMatchObject({ status_code: 499, route: '/shops/:shop/orders/:id/wait' });
    expect(await o.metrics.render()).toContain(`${series} 0`);
  });
});
