import type { FileCache } from '../cache/file-cache.ts';
import type { HubErrorCode } from '../errors.ts';
import type { ResponseHeaders, Transport } from './transport.ts';

/** What a request is about; `file` covers everything below `/resolve/`, `storage` the hosts it leads to. */
export type RequestKind = 'info' | 'tree' | 'refs' | 'file' | 'storage';

/** One finished HTTP exchange, for logs and metrics. It has no token, no query and no path. */
export interface RequestEvent {
  readonly method: string;
  readonly host: string;
  readonly kind: RequestKind;
  /** Null if there was no response. */
  readonly status: number | null;
  readonly outcome: 'ok' | 'redirect' | 'refused' | 'failed' | 'aborted';
  readonly durationMs: number;
  /** Bytes of the body that were read. */
  readonly bytes: number;
  /** `X-Request-Id` of the response. */
  readonly hubRequestId: string | null;
}

/** One decision to retry, for logs. */
export interface RetryEvent {
  readonly host: string;
  readonly kind: RequestKind;
  readonly status: number | null;
  readonly code: HubErrorCode;
  /** Failures so far: 1 at the first retry. */
  readonly failures: number;
  readonly delayMs: number;
  readonly reason: 'rate_limit' | 'retry_after' | 'backoff';
}

/** What a request is about, as messages name it. */
export interface Subject {
  readonly dataset: string;
  readonly revision?: string;
  readonly file?: string;
}

/** How often and how long a request is retried. */
export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly maxRetries: number;
  /** First backoff; it doubles with every failure. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** How long a request is retried, waits included. */
  readonly budgetMs: number;
}

/** What all requests about one dataset share. */
export interface RequestContext {
  readonly subject: Subject;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Clock time after which nothing is started or waited for. */
  readonly deadlineMs?: number | undefined;
  readonly retry: RetryPolicy;
  /** From a request to the headers of its response; default the client's. */
  readonly headersTimeoutMs?: number | undefined;
  /** Keeps bytes of files; absent if nothing is kept. */
  readonly cache?: FileCache | undefined;
  /** Counts the bytes of the files that are read; absent for files that are not data. */
  readonly received?: { bytes: number } | undefined;
}

export interface RequesterDeps {
  /** Origin of the hub, with a path if it has one. */
  readonly endpoint: URL;
  readonly transport: Transport;
  readonly userAgent: string;
  /** From a request to the headers of its response. */
  readonly headersTimeoutMs: number;
  /** Between two chunks of a body. */
  readonly idleBodyTimeoutMs: number;
  readonly clock: Clock;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** A GET request of the hub. */
export interface HubRequest {
  readonly kind: RequestKind;
  /** Address of the endpoint, or one that the endpoint redirected to. */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses besides 2xx that are not errors. */
  readonly accept?: readonly number[];
}

/** A response whose body you read once, or discard. */
export interface HubResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Last address of the chain of redirects. */
  readonly url: URL;
  /** Headers of the hub's own redirects, first to last. */
  readonly hops: readonly ResponseHeaders[];
  /** Whether the response came from the hub's own origin. */
  readonly fromHub: boolean;
  /** The body; throws if it is shorter than declared, or stalls. */
  chunks(): AsyncGenerator<Uint8Array>;
  /** The whole body. @throws HubError `hub_bad_response` if it is longer than `maxBytes` */
  bytes(maxBytes: number): Promise<Uint8Array>;
  /** Ends the exchange without reading on. */
  discard(): Promise<void>;
}

/** Time and chance, so that tests need not wait. */
export interface Clock {
  /** Milliseconds for waits and deadlines: from an unknown beginning, and never set. */
  nowMs(): number;
  /** The time of day, since 1970. It is only for HTTP dates, because it may be set at any moment. */
  dateMs(): number;
  /** Settles after the time, or rejects with the signal's reason. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** 0 to 1. */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  random: () => Math.random(),
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};
