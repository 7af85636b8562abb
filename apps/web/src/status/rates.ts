import { type Sample, sumOf } from './parse-metrics.ts';

/** Totals at a time. */
export interface Totals {
  readonly atMs: number;
  readonly requests: number;
  readonly errors: number;
  /** Total time of all responses. */
  readonly seconds: number;
  readonly items: number;
  readonly providerCalls: number;
  readonly results: number;
}

/** An hour of looks every five seconds. */
const MAX_LOOKS = 720;

/** The totals of a look at the metrics. */
export function totalsOf(samples: readonly Sample[], atMs: number): Totals {
  return {
    atMs,
    requests: sumOf(samples, 'svc_http_requests_total'),
    errors: sumOf(samples, 'svc_http_requests_total', ({ status_code }) => /^5/.test(status_code ?? '')),
    seconds: sumOf(samples, 'svc_http_request_duration_seconds_sum'),
    items: sumOf(samples, 'svc_dataset_import_items_total'),
    providerCalls: sumOf(samples, 'svc_provider_requests_total'),
    results: sumOf(samples, 'svc_run_items_total'),
  };
}

/** The looks with one more; the oldest go. */
export const withLook = (looks: readonly Totals[], next: Totals): readonly Totals[] =>
  [...looks, next].slice(-MAX_LOOKS);

/** How much a total grew each second between looks. A total that fell began again with the process. */
export function ratesOf(looks: readonly Totals[], name: Exclude<keyof Totals, 'atMs'>): readonly number[] {
  return looks.slice(1).map((look, at) => {
    const before = looks[at] ?? look;
    const elapsedS = (look.atMs - before.atMs) / 1000;
    return elapsedS <= 0 ? 0 : Math.max(0, look[name] - before[name]) / elapsedS;
  });
}
