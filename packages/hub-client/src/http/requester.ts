import { JsonlError, JsonStream } from '@svc/jsonl-v23/json';
import { inSlices } from '@svc/tabular';
import { HubError } from '../errors.ts';
import { errorOfResponse, RetryableError } from './errors.ts';
import { followRedirects, limitBytes } from './exchange.ts';
import type { HubRequest, HubResponse, RequestContext } from './request.ts';
import { isRetryableStatus, type RetryDeps, retry, retryStream } from './retry.ts';

/** Sends requests to the hub, which share a context: the only code that does. */
export class Requester {
  readonly #deps: RetryDeps;
  readonly context: RequestContext;

  constructor(deps: RetryDeps, context: RequestContext) {
    this.#deps = deps;
    this.context = context;
  }

  /** The same with some other members of the context. */
  with(over: Partial<RequestContext>): Requester {
    return new Requester(this.#deps, { ...this.context, ...over });
  }

  get endpoint(): URL {
    return this.#deps.endpoint;
  }

  /** The address of a path of the hub, which begins with a slash. */
  urlOf(path: string): URL {
    return new URL(`${this.endpoint.href.replace(/\/$/, '')}${path}`);
  }

  /** Sends a request once. @throws RetryableError if repeating it may help, HubError if not; the signal's reason */
  async open(request: HubRequest): Promise<HubResponse> {
    const { context } = this;
    if (request.url.origin === this.endpoint.origin) await this.#deps.rateLimits.wait(request.kind, context);
    const response = await followRedirects(this.#deps, request, context);
    const { status, headers, url } = response;
    if ((status >= 200 && status < 300) || request.accept?.includes(status)) return response;
    const error = await errorOfResponse(response, context);
    if (!isRetryableStatus(status)) throw error;
    throw new RetryableError(error, { status, headers, kind: request.kind, host: url.host });
  }

  /** Sends a request until `use` has read a response. @throws HubError; the signal's reason */
  async read<T>(request: HubRequest, use: (response: HubResponse) => Promise<T>): Promise<T> {
    const attempt = async (): Promise<T> => {
      const response = await this.open(request);
      try {
        return await use(response);
      } finally {
        await response.discard();
      }
    };
    return await retry(attempt, this.context, this.#deps);
  }

  /**
   * Reads a JSON response while it arrives, so that neither its length nor its shape blocks the thread. `use` may be called
   * again, after a failure.
   *
   * @param limits bytes of the body, and characters of a value that is read whole, by default as many
   * @throws HubError `hub_bad_response` also for a body that is too long, not JSON, or of another form than `use` reads
   */
  async readJson<T>(
    request: HubRequest,
    { maxBytes, maxValueLength = maxBytes }: { maxBytes: number; maxValueLength?: number },
    use: (json: JsonStream, response: HubResponse) => Promise<T>,
  ): Promise<T> {
    return await this.read(request, async (response) => {
      await using json = new JsonStream(inSlices(limitBytes(response.chunks(), maxBytes)), {
        maxValueLength,
      });
      try {
        const value = await use(json, response);
        await json.end();
        return value;
      } catch (cause) {
        if (!(cause instanceof JsonlError)) throw cause;
        const { host } = response.url;
        const message = `Cannot read the response of ${host}: not the expected JSON (${cause.message}).`;
        throw new HubError('hub_bad_response', message, { cause, details: { status: response.status } });
      }
    });
  }

  /** `retryStream` for attempts that use `open`. */
  resume<T>(
    attempt: () => AsyncGenerator<T, void, undefined>,
    madeProgress: () => boolean,
  ): AsyncGenerator<T, void, undefined> {
    return retryStream(attempt, madeProgress, this.context, this.#deps);
  }
}
