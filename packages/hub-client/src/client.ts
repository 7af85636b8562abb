import { type HttpDispatcher, openTransport } from '#platform';
import { type HubDataset, openDataset } from './dataset.ts';
import { HubError } from './errors.ts';
import { type Clock, SYSTEM_CLOCK } from './http/clock.ts';
import type { RequestContext, RequestEvent, RetryEvent } from './http/request.ts';
import { Requester } from './http/requester.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './http/retry.ts';
import { type FetchFunction, fetchTransport, type OpenTransport } from './http/transport.ts';
import { validateDatasetPath, validateRevision, validateToken } from './repository/validate-path.ts';
import { DEFAULT_REVISION } from './snapshot.ts';

/** The public hub. */
export const PUBLIC_HUB = 'https://huggingface.co';

export interface HubTimeouts {
  /** For a connection; default 10 s. Not in browsers. */
  connectMs: number;
  /** From a request to the headers of its answer; default 30 s. */
  headersMs: number;
  /** Between two pieces of a body; default 30 s. */
  idleBodyMs: number;
}

const DEFAULT_TIMEOUTS: HubTimeouts = { connectMs: 10_000, headersMs: 30_000, idleBodyMs: 30_000 };

export interface HubClientOptions {
  /** Origin of the hub, with a path where it has one; default the public hub. */
  endpoint?: string | undefined;
  /** Token for requests that bring none. It is sent to the endpoint's own origin only. */
  token?: string | undefined;
  timeouts?: Partial<HubTimeouts> | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  /** In place of the runtime's own way to send requests. */
  fetch?: FetchFunction | undefined;
  /** Node only: what undici sends requests through, such as a proxy agent. It stays the caller's to close, and what it connects to
   * is not looked at: by itself, a client of a hub on a public address connects to public addresses only. */
  dispatcher?: HttpDispatcher | undefined;
  userAgent?: string | undefined;
  /** Hears of every finished HTTP exchange. */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Hears of every decision to try again. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  clock?: Clock | undefined;
}

/** Which dataset is meant, and for how long and how hard to try. */
export interface OpenDatasetOptions {
  /** `owner/name`, or a single legacy name. */
  path: string;
  /** Branch, tag or commit; default `main`. */
  revision?: string | undefined;
  /** In place of the client's. */
  token?: string | undefined;
  /** Ends everything that is done through the dataset. */
  signal?: AbortSignal | undefined;
  /** Time for everything that is done through the dataset; beyond it `hub_timeout`. */
  budgetMs?: number | undefined;
  /** In place of the client's. */
  retry?: Partial<RetryPolicy> | undefined;
}

export interface HubClient extends AsyncDisposable {
  /**
   * Opens a dataset at the commit that its revision now stands for.
   *
   * @throws HubError `invalid_request` before any request; `hub_dataset_not_found`, `hub_revision_not_found`, `hub_gated`,
   *   `hub_unsupported_dataset`, `hub_unavailable`, `hub_bad_response`, `hub_rate_limited`, `hub_timeout`; the
   *   signal's reason where it is aborted
   */
  openDataset(options: OpenDatasetOptions): Promise<HubDataset>;
  /** Closes the connections. */
  close(): Promise<void>;
}

/**
 * Creates a client of a dataset hub. No request is made and no connection is opened until a dataset is.
 *
 * @throws HubError `invalid_request` where the endpoint is no http(s) address or the token no token
 *
 * @example
 * const hub = createHubClient();
 * const dataset = await hub.openDataset({ path: 'openai/gsm8k' });
 * const selection = await dataset.select({ subset: 'main', split: 'test[:10]' });
 * for await (const { row } of selection.rows()) console.log(row);
 */
export function createHubClient(options: HubClientOptions = {}): HubClient {
  const endpoint = parseEndpoint(options.endpoint ?? PUBLIC_HUB);
  const ownToken = validateToken(options.token);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const clock = options.clock ?? SYSTEM_CLOCK;
  const transport = chooseTransport(endpoint, options, timeouts);
  const requester = new Requester({
    endpoint,
    transport: transport.send,
    userAgent: options.userAgent ?? 'svc-hub-client',
    headersTimeoutMs: timeouts.headersMs,
    idleBodyTimeoutMs: timeouts.idleBodyMs,
    clock,
    onRequest: options.onRequest,
    onRetry: options.onRetry,
  });
  return {
    async openDataset({ path, revision, token, signal, budgetMs, retry }) {
      const dataset = validateDatasetPath(path);
      const asked = validateRevision(revision ?? DEFAULT_REVISION);
      const context: RequestContext = {
        subject: { dataset, revision: asked },
        token: validateToken(token) ?? ownToken,
        signal,
        deadlineMs: budgetMs === undefined ? undefined : clock.nowMs() + budgetMs,
        retry: { ...DEFAULT_RETRY_POLICY, ...options.retry, ...retry },
      };
      return await openDataset(requester, dataset, asked, context);
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

function chooseTransport(endpoint: URL, options: HubClientOptions, timeouts: HubTimeouts): OpenTransport {
  if (options.fetch !== undefined) return { send: fetchTransport(options.fetch), async close() {} };
  return openTransport({
    endpoint,
    connectTimeoutMs: timeouts.connectMs,
    ...(options.dispatcher === undefined ? {} : { dispatcher: options.dispatcher }),
  });
}

function parseEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== ''
  ) {
    throw new HubError('invalid_request', 'the endpoint of the hub must be an http or https address');
  }
  return url;
}
