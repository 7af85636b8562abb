import { expect, it } from 'vitest';
import { parseMetrics, totalsOf } from './status-page.tsx';

it('adds up requests, and those that failed', () => {
  const text =
    '# TYPE svc_http_requests_total counter\nsvc_http_requests_total{status_code="200"} 8\nsvc_http_requests_total{status_code="503"} 2';
  expect(totalsOf(parseMetrics(text), 0)).toMatchObject({ requests: 10, errors: 2 });
});
