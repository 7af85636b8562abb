/// <reference lib="esnext.disposable" preserve="true" />
import { checkNumber, withDefaults } from '@svc/jsonl-v23/options';
import { joinSignals } from '@svc/tabular';
import { type HttpDispatcher, openDiskCache, openTransport } from '#platform';
import type { FileCache } from '../cache/file-cache.ts';
import { HubError } from '../errors.ts';
import {
  type Clock,
  type RequestEvent,
  type RetryEvent,
  type RetryPolicy,
  SYSTEM_CLOCK,
} from '../http/request.ts';
import { Requester } from '../http/requester.ts';
import { DEFAULT_RETRY_POLICY, RateLimitWindows } from '../http/retry.ts';
import { type FetchFunction, fetchTransport, type OpenTransport } from '../http/transport.ts';
import { parseDatasetPath, validateRevision, validateToken } from '../repository/validate-path.ts';
import { VERSION } from '../version.ts';
import { type HubDataset, openDataset } from './dataset.ts';
import { type FoundDataset, findDatasets, MAX_FOUND } from './find-datasets.ts';
import { DEFAULT_REVISION } from './snapshot.ts';

/** The public hub. */
export const PUBLIC_HUB = 'https://huggingface.co';

export interface HubTimeouts {
  /** For a connection; default 10 s. Not in browsers. */
  readonly connectMs: number;
  /** From a request to the headers of its response; default 30 s. */
  readonly headersMs: number;
  /** Between two chunks of a body; default 30 s. */
  readonly idleBodyMs: number;
}

const DEFAULT_TIMEOUTS: HubTimeouts = { connectMs: 10_000, headersMs: 30_000, idleBodyMs: 30_000 };

const DEFAULT_FOUND = 20;

/** Default of `cacheMaxBytes`. */
const DEFAULT_CACHE_BYTES = 10 * 1024 ** 3;

export interface HubClientOptions {
  /** Origin of the hub, with a path if it has one; default the public hub. */
  readonly endpoint?: string | undefined;
  /** Token for datasets that are opened without one. It is sent to the endpoint's own origin only. */
  readonly token?: string | undefined;
  readonly timeouts?: Partial<HubTimeouts> | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  /**
   * Replaces the runtime's own HTTP client. With the `fetch` of a separate undici, requests go through its
   * dispatchers: `(url, init) => fetch(url, { ...init, dispatcher })`.
   */
  readonly fetch?: FetchFunction | undefined;
  /**
   * Node only: what undici 7 sends requests through, such as a proxy agent. You close it. Without it, the client
   * uses the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, and a client of a hub on a public address connects to
   * public addresses only.
   */
  readonly dispatcher?: HttpDispatcher | undefined;
  /**
   * Node only: a folder that caches file contents by commit and path, for this and other processes. Files that the hub
   * serves only to the owner of a token need that token. Default: no cache.
   */
  readonly cacheDir?: string | undefined;
  /** Largest size of the folder in bytes; default 10 GiB. The least recently used files are removed. */
  readonly cacheMaxBytes?: number | undefined;
  /** Value of the `User-Agent` header; default `svc-hub-client/` and the version. Browsers may send their own. */
  readonly userAgent?: string | undefined;
  /** Receives every finished HTTP exchange. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Receives every decision to retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Which dataset to open, and how long to retry. */
export interface OpenDatasetOptions {
  /** `owner/name`, a single legacy name, `datasets/owner/name`, or the address of a page of the dataset on this hub. */
  readonly path: string;
  /** Branch, tag or commit; by default the revision in the page's address, else `main`. */
  readonly revision?: string | undefined;
  /** Replaces the client's. */
  readonly token?: string | undefined;
  /** Ends all work on the dataset. */
  readonly signal?: AbortSignal | undefined;
  /** Time for all work on the dataset; after it, `hub_timeout` is thrown. */
  readonly budgetMs?: number | undefined;
  /** From a request to the headers of its response; replaces the client's. */
  readonly headersTimeoutMs?: number | undefined;
  /** Replaces the client's. */
  readonly retry?: Partial<RetryPolicy> | undefined;
}

/** How a search is made. */
export interface FindDatasetsOptions {
  /** From 1 to 50; default 20. */
  readonly limit?: number | undefined;
  /** Replaces the client's. A search finds private datasets only for people who may see them. */
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HubClient extends AsyncDisposable {
  /**
   * Opens a dataset at the commit to which its revision now points.
   *
   * @throws HubError `invalid_request` before any request; `hub_dataset_not_found`, `hub_revision_not_found`, `hub_gated`,
   *   `hub_unsupported_dataset`, `hub_unavailable`, `hub_bad_response`, `hub_rate_limited`, `hub_timeout`; the
   *   signal's reason if it is aborted; TypeError, RangeError for an invalid number in `retry` or `budgetMs`
   */
  openDataset(options: OpenDatasetOptions): Promise<HubDataset>;
  /**
   * Searches the names of datasets, the most downloaded first.
   *
   * @throws HubError `invalid_request` before any request; `hub_unavailable`, `hub_bad_response`, `hub_rate_limited`,
   *   `hub_timeout`; the signal's reason; RangeError for an invalid limit
   */
  findDatasets(query: string, options?: FindDatasetsOptions): Promise<readonly FoundDataset[]>;
  /** Closes the connections. Current and later reads fail with `hub_unavailable`. */
  close(): Promise<void>;
}

/**
 * Creates a client of a dataset hub. No request is made and no connection is opened until a dataset is.
 *
 * @throws HubError `invalid_request` if the endpoint is not an http(s) address, or the token or a proxy of the environment is
 *   invalid; TypeError, RangeError for an invalid number in `timeouts`, `retry` or `cacheMaxBytes`, TypeError for an unknown
 *   option
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
  const timeouts = resolveTimeouts(options.timeouts);
  const ownRetry = resolveRetry(DEFAULT_RETRY_POLICY, options.retry);
  const clock = options.clock ?? SYSTEM_CLOCK;
  const cache = chooseCache(endpoint, options, clock);
  const transport = chooseTransport(endpoint, options, timeouts);
  const deps = {
    endpoint,
    transport: transport.send,
    userAgent: options.userAgent ?? `svc-hub-client/${VERSION}`,
    headersTimeoutMs: timeouts.headersMs,
    idleBodyTimeoutMs: timeouts.idleBodyMs,
    clock,
    onRequest: options.onRequest,
    onRetry: options.onRetry,
    rateLimits: new RateLimitWindows(clock),
  };
  const closing = new AbortController();
  const close = async (): Promise<void> => {
    closing.abort(new HubError('hub_unavailable', 'Cannot read from the hub: the client is closed.'));
    await transport.close();
  };
  return {
    async openDataset(options) {
      const { path, revision, token, signal, budgetMs, headersTimeoutMs, retry } = options;
      const named = parseDatasetPath(path, endpoint);
      const dataset = named.path;
      const asked = validateRevision(revision ?? named.revision ?? DEFAULT_REVISION);
      checkNumber('budgetMs', budgetMs, { min: 0, fractions: true });
      checkNumber('headersTimeoutMs', headersTimeoutMs, { min: 1, fractions: true });
      const requester = new Requester(deps, {
        subject: { dataset, revision: asked },
        token: validateToken(token) ?? ownToken,
        signal: joinSignals(closing.signal, signal),
        deadlineMs: budgetMs === undefined ? undefined : clock.nowMs() + budgetMs,
        headersTimeoutMs,
        retry: resolveRetry(ownRetry, retry),
        cache,
      });
      return await openDataset(requester, dataset, asked);
    },
    async findDatasets(query, options = {}) {
      const { limit = DEFAULT_FOUND, token, signal } = options;
      checkNumber('limit', limit, { min: 1, max: MAX_FOUND });
      const requester = new Requester(deps, {
        subject: { dataset: query },
        token: validateToken(token) ?? ownToken,
        signal: joinSignals(closing.signal, signal),
        retry: ownRetry,
      });
      return await findDatasets(requester, query, limit);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function resolveTimeouts(given: Partial<HubTimeouts> | undefined): HubTimeouts {
  const timeouts = withDefaults(DEFAULT_TIMEOUTS, given);
  for (const [name, value] of Object.entries(timeouts)) {
    checkNumber(`timeouts.${name}`, value, { min: 1, fractions: true });
  }
  return timeouts;
}

function resolveRetry(defaults: RetryPolicy, given: Partial<RetryPolicy> | undefined): RetryPolicy {
  const policy = withDefaults(defaults, given);
  for (const [name, value] of Object.entries(policy)) {
    checkNumber(`retry.${name}`, value, { min: 0, fractions: name !== 'maxRetries' });
  }
  return policy;
}

function chooseCache(
  { href: endpoint }: URL,
  { cacheDir, cacheMaxBytes = DEFAULT_CACHE_BYTES }: HubClientOptions,
  clock: Clock,
): FileCache | undefined {
  checkNumber('cacheMaxBytes', cacheMaxBytes, { min: 1 });
  if (cacheDir === undefined) return undefined;
  if (typeof cacheDir !== 'string' || cacheDir === '') {
    throw new HubError('invalid_request', '`cacheDir` must be the path of a folder.');
  }
  return openDiskCache({ endpoint, folder: cacheDir, maxBytes: cacheMaxBytes, dateMs: () => clock.dateMs() });
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
    throw new HubError('invalid_request', 'The endpoint of the hub must be an http or https address.');
  }
  return url;
}
