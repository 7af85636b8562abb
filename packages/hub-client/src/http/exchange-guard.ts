import { HubError } from '../errors.ts';
import { RetryableError, transportError } from './errors.ts';
import type { Clock, RequestContext, RequestEvent, RequestKind } from './request.ts';

/** The longest delay of `setTimeout`. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Bounds one exchange in time, translates its errors, and reports its end once. */
export class ExchangeGuard {
  readonly #deps: { readonly clock: Clock; readonly onRequest?: ((event: RequestEvent) => void) | undefined };
  readonly #target: { readonly kind: RequestKind; readonly host: string };
  readonly #outerSignal: AbortSignal | undefined;
  readonly #stop = new AbortController();
  readonly #deadline: ReturnType<typeof setTimeout> | undefined;
  readonly #startedMs: number;
  #isFinished = false;
  /** Bytes of the body so far. */
  bytes = 0;
  status: number | null = null;
  hubRequestId: string | null = null;

  /** @throws the signal's reason; HubError `hub_timeout` if the deadline has passed */
  constructor(
    deps: { readonly clock: Clock; readonly onRequest?: ((event: RequestEvent) => void) | undefined },
    target: { readonly kind: RequestKind; readonly host: string },
    { signal, deadlineMs }: RequestContext,
  ) {
    signal?.throwIfAborted();
    this.#deps = deps;
    this.#target = target;
    this.#outerSignal = signal;
    this.#startedMs = deps.clock.nowMs();
    const remainingMs = (deadlineMs ?? Number.POSITIVE_INFINITY) - this.#startedMs;
    if (remainingMs <= 0) throw deadlineError();
    this.#deadline = startTimer(remainingMs, () => this.stop(deadlineError()));
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Aborted when the exchange must end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the caller has aborted the request. */
  get isAborted(): boolean {
    return this.#outerSignal?.aborted === true;
  }

  /** Ends the exchange. */
  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /**
   * Runs one step of the exchange, at most `timeoutMs`.
   * @param expectation what the host did not do, for the error
   * @throws RetryableError, HubError, or the signal's reason
   */
  async run<T>(step: () => Promise<T>, timeoutMs: number, expectation: string): Promise<T> {
    const { host } = this.#target;
    const timer = startTimer(timeoutMs, () => {
      const error = new HubError('hub_timeout', `${host} did not ${expectation} within ${timeoutMs} ms.`);
      this.stop(new RetryableError(error, this.#target));
    });
    try {
      return await step();
    } catch (error) {
      throw this.fail(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the exchange after an error of the transport. @returns the error to throw */
  fail(error: unknown): unknown {
    this.finish('failed');
    if (this.signal.aborted) return this.signal.reason;
    // Repeating the request does not help against an error that the transport itself classifies.
    if (error instanceof HubError) return error;
    return new RetryableError(transportError(error, this.#target.host), this.#target);
  }

  /** Reports the end of the exchange. */
  finish(outcome: RequestEvent['outcome']): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#outerSignal?.removeEventListener('abort', this.#onAbort);
    clearTimeout(this.#deadline);
    this.#deps.onRequest?.({
      method: 'GET',
      ...this.#target,
      status: this.status,
      outcome: this.isAborted && outcome === 'failed' ? 'aborted' : outcome,
      durationMs: this.#deps.clock.nowMs() - this.#startedMs,
      bytes: this.bytes,
      hubRequestId: this.hubRequestId,
    });
  }

  readonly #onAbort = (): void => this.stop(this.#outerSignal?.reason);
}

function deadlineError(): HubError {
  return new HubError('hub_timeout', 'The hub did not deliver within the time for this request.');
}

function startTimer(delayMs: number, run: () => void): ReturnType<typeof setTimeout> | undefined {
  return delayMs > MAX_TIMER_MS ? undefined : setTimeout(run, delayMs);
}
