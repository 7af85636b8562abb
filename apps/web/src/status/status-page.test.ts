import { expect, it } from 'vitest';
import { earlierTotals, parseMetrics, totalsOf } from './status-page.tsx';

it('adds up requests, and those that failed', () => {
  const text =
    '# TYPE svc_http_requests_total counter\nsvc_http_requests_total{status_code="200"} 8\nsvc_http_requests_total{status_code="503"} 2';
  expect(totalsOf(parseMetrics(text), 0)).toMatchObject({ requests: 10, errors: 2 });
});

it('compares with the last look, but not over a restart', () => {
  const look = (requests: number) => totalsOf(parseMetrics(`svc_http_requests_total ${requests}`), 0);
  const now = look(3);
  expect(earlierTotals(look(2), now).requests).toBe(2);
  expect(earlierTotals(look(18), now)).toBe(now);
  expect(earlierTotals(undefined, now)).toBe(now);
});
