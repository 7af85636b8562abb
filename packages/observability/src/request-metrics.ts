import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { MetricArea } from './metrics.ts';

/** The `path` label of a request that matches no route. */
export const UNMATCHED_PATH = '__unmatched__';

/** The methods of RFC 9110 section 9, and PATCH. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

// From a health check to an upload of gigabytes.
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The `method` label: a standard method as it is, anything else `OTHER`. Case counts. */
export function methodLabel(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : 'OTHER';
}

export function requestMetrics(registers: Registry[]): MetricArea<'startRequest'> {
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'HTTP requests, by method, route template and status code; 499 if the client disconnected.',
    labelNames: ['method', 'path', 'status_code'],
    registers,
  });
  const seconds = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response.',
    buckets: SECONDS,
    registers,
  });
  const inProgress = new Gauge({
    name: 'svc_http_requests_in_progress',
    help: 'HTTP requests in progress, by method and route template.',
    labelNames: ['method', 'path'],
    registers,
  });
  /** A reset begins a new epoch; requests of an earlier one no longer count. */
  let epoch = 0;

  return {
    zero() {
      epoch += 1;
      seconds.zero({});
    },
    startRequest({ method: requestMethod, route = UNMATCHED_PATH }) {
      const method = methodLabel(requestMethod);
      const startEpoch = epoch;
      let path = route;
      let isFinished = false;
      const isCounted = (): boolean => !isFinished && startEpoch === epoch;
      inProgress.inc({ method, path });
      return {
        setRoute(newPath) {
          if (!isCounted()) return;
          inProgress.dec({ method, path });
          path = newPath;
          inProgress.inc({ method, path });
        },
        finish({ statusCode, durationMs }) {
          if (!isCounted()) return;
          isFinished = true;
          inProgress.dec({ method, path });
          requests.inc({ method, path, status_code: String(statusCode) });
          seconds.observe(durationMs / 1000);
        },
      };
    },
  };
}
