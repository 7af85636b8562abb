import { Counter, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics, methodLabel, reset_metrics_for_testing } from './create-metrics.ts';

const quiet = { prefix: 'shop', version: '1.2.3', processMetrics: false };

async function series(metrics: { render(): Promise<string> }): Promise<Record<string, number>> {
  const lines = (await metrics.render()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

describe('createMetrics', () => {
  it('has the metrics of requests and the version under its prefix', async () => {
    const typesOf = (text: string) => [...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]);
    expect(typesOf(await createMetrics(quiet).render())).toEqual([
      'shop_http_requests_total',
      'shop_http_request_duration_seconds',
      'shop_http_requests_in_progress',
      'shop_build_info',
    ]);
    expect(typesOf(await createMetrics({ processMetrics: false }).render())).toEqual([
      'http_requests_total',
      'http_request_duration_seconds',
      'http_requests_in_progress',
    ]);
    for (const prefix of ['', '1', 'a-b', 'a b']) {
      expect(() => createMetrics({ prefix })).toThrow(/^`prefix` must be/);
    }
  });

  it('uses the registry of the program, without the process metrics that it may have', async () => {
    const registry = new Registry();
    const orders = new Counter({ name: 'orders_total', help: 'Orders.', registers: [registry] });
    const metrics = createMetrics({ registry, prefix: 'shop' });
    orders.inc(2);
    expect(metrics.registry).toBe(registry);
    expect(await series(metrics)).toMatchObject({
      orders_total: 2,
      shop_http_request_duration_seconds_count: 0,
    });
    expect(await metrics.render()).not.toContain('process_');
    reset_metrics_for_testing();
    expect(await series(metrics)).toMatchObject({ orders_total: 0 });
  });

  it('bounds its series whatever routes a program makes', async () => {
    const metrics = createMetrics(quiet);
    for (let i = 0; i < 1_200; i++) {
      metrics.startRequest({ method: 'GET', route: `/${i}` }).finish({ statusCode: 200, durationMs: 1 });
    }
    const long = metrics.startRequest({ method: 'GET' });
    long.setRoute('x'.repeat(10_000));
    const text = await metrics.render();
    expect(text).toContain('shop_http_requests_total{method="GET",path="__other__",status_code="200"} 201');
    expect(text.length).toBeLessThan(300_000);
  });

  it('counts a request under its route and lets the gauge return to 0', async () => {
    const metrics = createMetrics(quiet);
    const request = metrics.startRequest({ method: 'GET' });
    expect(await series(metrics)).toMatchObject({
      'shop_http_requests_in_progress{method="GET",path="__unmatched__"}': 1,
    });
    request.setRoute('/datasets/:id');
    expect(await series(metrics)).toMatchObject({
      'shop_http_requests_in_progress{method="GET",path="__unmatched__"}': 0,
      'shop_http_requests_in_progress{method="GET",path="/datasets/:id"}': 1,
    });
    request.finish({ statusCode: 200, durationMs: 20 });
    request.finish({ statusCode: 499, durationMs: 20 });
    request.setRoute('/late');
    const found = await series(metrics);
    expect(found).toMatchObject({
      'shop_http_requests_in_progress{method="GET",path="/datasets/:id"}': 0,
      'shop_http_requests_total{method="GET",path="/datasets/:id",status_code="200"}': 1,
      shop_http_request_duration_seconds_count: 1,
      shop_http_request_duration_seconds_sum: 0.02,
    });
    expect(Object.keys(found).filter((name) => name.includes('499') || name.includes('/late'))).toEqual([]);
  });

  it('bounds its series whatever method clients send', async () => {
    const metrics = createMetrics(quiet);
    for (const method of ['BREW', 'get', '', undefined, 'a'.repeat(100)]) {
      metrics.startRequest({ method }).finish({ statusCode: 400, durationMs: 1 });
    }
    expect(await series(metrics)).toMatchObject({
      'shop_http_requests_total{method="OTHER",path="__unmatched__",status_code="400"}': 5,
    });
  });

  it.each([
    ['GET', 'GET'],
    ['PATCH', 'PATCH'],
    ['PROPFIND', 'OTHER'],
    ['get', 'OTHER'],
    [undefined, 'OTHER'],
  ])('labels method %j as %s', (method, label) => expect(methodLabel(method)).toBe(label));

  it('resets everything, also during a request', async () => {
    const metrics = createMetrics(quiet);
    const fresh = await metrics.render();
    const request = metrics.startRequest({ method: 'GET', route: '/x' });
    reset_metrics_for_testing();
    request.setRoute('/y');
    request.finish({ statusCode: 200, durationMs: 1 });
    expect(await metrics.render()).toBe(fresh);
  });

  it('escapes label values', async () => {
    const metrics = createMetrics({ ...quiet, version: 'a"b\\c\nd' });
    expect(await metrics.render()).toContain('shop_build_info{version="a\\"b\\\\c\\nd"} 1');
  });
});
