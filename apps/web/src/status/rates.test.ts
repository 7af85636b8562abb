import { expect, it } from 'vitest';
import { parseMetrics, ratesOf, totalsOf, withLook } from './rates.ts';

const look = (atMs: number, requests: number) =>
  totalsOf(
    parseMetrics(
      `svc_http_requests_total{status_code="200"} ${requests}\nsvc_http_requests_total{status_code="503"} 2`,
    ),
    atMs,
  );

it('tells how much totals grew between looks, also over a restart', () => {
  const looks = [look(0, 8), look(2_000, 18), look(3_000, 0)];
  expect(looks[0]).toMatchObject({ requests: 10, errors: 2, items: 0 });
  expect(ratesOf(looks, 'requests')).toEqual([5, 0]);
  expect(ratesOf(looks, 'errors')).toEqual([0, 0]);
  expect(ratesOf([], 'requests')).toEqual([]);
});

it('keeps an hour', () => {
  const looks = Array.from({ length: 1_000 }, (_, at) => look(at * 5_000, at)).reduce(
    (kept: ReturnType<typeof withLook>, next) => withLook(kept, next),
    [],
  );
  expect(looks.length).toBe(720);
  expect(looks.at(-1)?.atMs).toBe(999 * 5_000);
});
