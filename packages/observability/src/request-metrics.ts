import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** The `path` label of a request that matches no route. */
export const UNMATCHED_PATH = '__unmatched__';

/** The `path` label of a request whose route comes after {@link MAX_PATHS} others. */
const OTHER_PATH = '__other__';

/** No program has as many routes: more are a route that the middleware could not tell from its URL. */
const MAX_PATHS = 1000;
const MAX_PATH_LENGTH = 256;

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

/** Few, because each of them is a series for each route. */
const ROUTE_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30];

/** The `method` label: a standard method as it is, anything else `OTHER`. Case counts. */
export function methodLabel(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : 'OTHER';
}

/** The metrics of requests. `zero` begins again, with each series that has no labels at 0. */
export function requestMetrics(
  nameOf: (name: string) => string,
  registers: Registry[],
  durationLabels: readonly ('method' | 'path')[],
  hasRouteDurations: boolean,
): Pick<Metrics, 'startRequest'> & { zero(): void } {
  const requests = new Counter({
    name: nameOf('http_requests_total'),
    help: 'HTTP requests, by method, route template and status code; 499 if the client disconnected.',
    labelNames: ['method', 'path', 'status_code'],
    registers,
  });
  const seconds = new Histogram({
    name: nameOf('http_request_duration_seconds'),
    help: 'Time from the head of a request to the end of its response.',
    labelNames: durationLabels,
    buckets: SECONDS,
    registers,
  });
  const routeSeconds = hasRouteDurations
    ? new Histogram({
        name: nameOf('http_route_duration_seconds'),
        help: 'The same by method and route template.',
        labelNames: ['method', 'route'],
        buckets: ROUTE_SECONDS,
        registers,
      })
    : undefined;
  const inProgress = new Gauge({
    name: nameOf('http_requests_in_progress'),
    help: 'HTTP requests in progress, by method and route template.',
    labelNames: ['method', 'path'],
    registers,
  });
  /** A reset begins a new epoch; requests of an earlier one no longer count. */
  let epoch = 0;
  const paths = new Set<string>([UNMATCHED_PATH]);
  const pathLabel = (route: string): string => {
    const path = route.slice(0, MAX_PATH_LENGTH);
    if (!paths.has(path)) {
      if (paths.size >= MAX_PATHS) return OTHER_PATH;
      paths.add(path);
    }
    return path;
  };

  return {
    zero() {
      epoch += 1;
      if (durationLabels.length === 0) seconds.zero({});
    },
    startRequest({ method: requestMethod, route = UNMATCHED_PATH }) {
      const method = methodLabel(requestMethod);
      const startEpoch = epoch;
      let path = pathLabel(route);
      let isFinished = false;
      const isCounted = (): boolean => !isFinished && startEpoch === epoch;
      inProgress.inc({ method, path });
      return {
        setRoute(newPath) {
          if (!isCounted()) return;
          inProgress.dec({ method, path });
          path = pathLabel(newPath);
          inProgress.inc({ method, path });
        },
        finish({ statusCode, durationMs }) {
          if (!isCounted()) return;
          isFinished = true;
          inProgress.dec({ method, path });
          requests.inc({ method, path, status_code: String(statusCode) });
          routeSeconds?.observe({ method, route: path }, durationMs / 1000);
          const labels = { method, path };
          seconds.observe(
            Object.fromEntries(durationLabels.map((name) => [name, labels[name]])),
            durationMs / 1000,
          );
        },
      };
    },
  };
}
