import { HubError } from '../errors.ts';
import { errorOfResponse, RetryableError } from './errors.ts';
import type { ExchangeDeps } from './exchange.ts';
import { RateLimitWindows } from './rate-limit.ts';
import { followRedirects } from './redirects.ts';
import type { HubRequest, HubResponse, RequestContext, RetryEvent } from './request.ts';
import { isRetryableStatus, type RetryDeps, retry, retryStream } from './retry.ts';

export interface RequesterDeps extends ExchangeDeps {
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** Sends requests to the hub: the only code that does. */
export class Requester {
  readonly #deps: RequesterDeps & RetryDeps;

  constructor(deps: RequesterDeps) {
    this.#deps = { ...deps, rateLimits: new RateLimitWindows(deps.clock) };
  }

  get endpoint(): URL {
    return this.#deps.endpoint;
  }

  /**
   * Sends a request once, and follows its redirects.
   * @throws RetryableError if repeating it may help, HubError if not, the signal's reason
   */
  async open(request: HubRequest, context: RequestContext): Promise<HubResponse> {
    if (request.url.origin === this.endpoint.origin) await this.#deps.rateLimits.wait(request.kind, context);
    const response = await followRedirects(this.#deps, request, context);
    const { status, headers, url } = response;
    if ((status >= 200 && status < 300) || request.accept?.includes(status)) return response;
    const error = await errorOfResponse(response, request.subject ?? context.subject, context);
    if (!isRetryableStatus(status)) throw error;
    throw new RetryableError(error, { status, headers, kind: request.kind, host: url.host });
  }

  /** Sends a request until `use` has read a response. @throws HubError; the signal's reason */
  async read<T>(
    request: HubRequest,
    context: RequestContext,
    use: (response: HubResponse) => Promise<T>,
  ): Promise<T> {
    const attempt = async (): Promise<T> => {
      const response = await this.open(request, context);
      try {
        return await use(response);
      } finally {
        await response.discard();
      }
    };
    return await retry(attempt, context, this.#deps);
  }

  /** Reads a JSON response. @throws HubError; the signal's reason */
  async readJson(
    request: HubRequest,
    context: RequestContext,
    maxBytes: number,
  ): Promise<{ value: unknown; response: HubResponse }> {
    return await this.read(request, context, async (response) => {
      const bytes = await response.bytes(maxBytes);
      try {
        return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), response };
      } catch {
        throw new HubError(
          'hub_bad_response',
          `Cannot read the response of ${response.url.host}: not JSON.`,
          {
            details: { status: response.status },
          },
        );
      }
    });
  }

  /** `retryStream` for attempts that use `open`. */
  resume<T>(
    attempt: () => AsyncGenerator<T, void, undefined>,
    madeProgress: () => boolean,
    context: RequestContext,
  ): AsyncGenerator<T, void, undefined> {
    return retryStream(attempt, madeProgress, context, this.#deps);
  }
}
