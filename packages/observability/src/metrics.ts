import type { Registry } from 'prom-client';

/** One request in progress. */
export interface RequestMeasurement {
  /** Names the route once it is known: the template with its mount, `/datasets/:id`. */
  setRoute(route: string): void;
  /** Counts the request and takes it out of those in progress. Only the first call counts. */
  finish(response: { statusCode: number; durationMs: number }): void;
}

/** The metrics of one process. */
export interface Metrics {
  /** Where the metrics are registered; register the program's own here. */
  readonly registry: Registry;
  /** Value of the `Content-Type` header for {@link render}. */
  readonly contentType: string;
  /**
   * Begins to measure a request. Call `finish` when the response is finished or its connection closed, whichever comes
   * first (a client that disconnected: status code 499), so that the gauge returns to 0.
   */
  startRequest(request: { method: string | undefined; route?: string | undefined }): RequestMeasurement;
  /** All metrics of the registry in the Prometheus text format 0.0.4. */
  render(): Promise<string>;
  /** Sets every metric of the registry back to its start; requests in progress no longer count. */
  resetForTesting(): void;
}

export interface MetricsOptions {
  /** The registry of prom-client to use; default a new one. */
  readonly registry?: Registry;
  /** The first part of each name: `shop` makes `shop_http_requests_total`; default none. */
  readonly prefix?: string;
  /** Label of the gauge `<prefix>_build_info`, which is left out without it. */
  readonly version?: string;
  /** Labels of the histogram `<prefix>_http_request_duration_seconds`; default none, which is one series for each bucket. */
  readonly durationLabels?: readonly ('method' | 'path')[];
  /** Whether to also make `<prefix>_http_route_duration_seconds`, with the labels `method` and `route` and fewer buckets; default false. */
  readonly routeDurations?: boolean;
  /** Whether to measure Node.js and the process too; default true with a new registry, false with a given one. */
  readonly processMetrics?: boolean;
}
