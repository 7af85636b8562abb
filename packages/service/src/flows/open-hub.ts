import { createHubClient, type HubClient, type RequestEvent, type RetryEvent } from '@svc/hub-client';
import type { Logger } from '../telemetry/create-logger.ts';
import type { Metrics } from '../telemetry/create-metrics.ts';
import type { HubOutcome } from '../telemetry/metric-labels.ts';

export interface HubOptions {
  readonly endpoint: string;
  /** Sent with requests that bring no token. */
  readonly token: string | undefined;
  /** Folder that keeps what is read of files, and its size in bytes. */
  readonly cacheDir?: string | undefined;
  readonly cacheMaxBytes?: number | undefined;
  /** Version of the service, for the user agent. */
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Opens a hub client that logs and counts its requests. The caller closes it. */
export function openHub({ logger, metrics, version, ...options }: HubOptions): HubClient {
  return createHubClient({
    ...options,
    userAgent: `svc/${version}`,
    onRequest: (event) => {
      const outcome = outcomeOf(event);
      metrics.recordHubRequest({ outcome, durationMs: event.durationMs });
      logger.log('hub.request', {
        method: event.method,
        host: event.host,
        kind: event.kind,
        status_code: event.status,
        outcome,
        bytes: event.bytes,
        duration_ms: Math.round(event.durationMs),
        hub_request_id: event.hubRequestId,
      });
    },
    onRetry: (event: RetryEvent) => {
      logger.log('hub.retry', {
        host: event.host,
        kind: event.kind,
        status_code: event.status,
        code: event.code,
        reason: event.reason,
        attempt: event.failures,
        delay_ms: Math.round(event.delayMs),
      });
    },
  });
}

/** The label of `svc_hub_requests_total`. */
function outcomeOf({ outcome, status }: RequestEvent): HubOutcome {
  if (outcome === 'ok' || outcome === 'redirect' || outcome === 'aborted') return outcome;
  if (status === null) return 'connection_error';
  if (status === 404) return 'not_found';
  if (status === 401 || status === 403) return 'denied';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'bad_response';
}
