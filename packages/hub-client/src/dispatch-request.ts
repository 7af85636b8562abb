import { Readable } from 'node:stream';

/**
 * What undici sends requests through, of any version from 6: an agent, a proxy agent, a mock. It is known by its shape,
 * since a program has its own copy of undici.
 */
export interface HttpDispatcher {
  dispatch(options: object, handler: object): boolean;
}

export interface DispatchedResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What undici 7 and 8 give a handler to steer the exchange. */
interface Controller {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** Sends one GET request through a dispatcher of any version. */
export function dispatchRequest(
  dispatcher: HttpDispatcher,
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<DispatchedResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const exchange = new DispatchedExchange(resolve, reject, signal);
    const path = `${url.pathname}${url.search}`;
    dispatcher.dispatch({ origin: url.origin, path, method: 'GET', headers }, exchange);
  });
}

/** The handler of an exchange: its methods of undici 8, which 7 prefers, and those that 6 knows. */
class DispatchedExchange {
  readonly #resolve: (response: DispatchedResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#stop(this.#signal.reason);
  #body: Readable | undefined;
  #controller: Controller | undefined;

  constructor(
    resolve: (response: DispatchedResponse) => void,
    reject: (error: unknown) => void,
    signal: AbortSignal,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#stop(this.#signal.reason);
  }

  onResponseStart(controller: Controller, statusCode: number, headers: DispatchedResponse['headers']): void {
    if (statusCode < 200) return;
    const body = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        // After the end of the body, there is nothing left to abort.
        if (!body.readableEnded) controller.abort(error ?? new Error('The rest of the body is not needed.'));
        this.#settle();
        done(error);
      },
    });
    this.#body = body;
    this.#resolve({ statusCode, headers, body });
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.#body?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#settle();
    this.#body?.push(null);
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    this.#settle();
    if (this.#body === undefined) this.#reject(error);
    else this.#body.destroy(error);
  }

  onConnect(abort: (reason: Error) => void): void {
    this.onRequestStart({ abort, pause: () => undefined, resume: () => undefined });
  }

  onHeaders(statusCode: number, rawHeaders: readonly Uint8Array[], resume: () => void): boolean {
    const abort = (reason: Error): void => this.#controller?.abort(reason);
    this.onResponseStart({ abort, pause: () => undefined, resume }, statusCode, parseHeaders(rawHeaders));
    return true;
  }

  onData(chunk: Uint8Array): boolean {
    return this.#body?.push(chunk) ?? true;
  }

  onComplete(): void {
    this.onResponseEnd();
  }

  onError(error: Error): void {
    this.onResponseError(null, error);
  }

  onBodySent(): void {}

  #stop(reason: Error): void {
    this.#controller?.abort(reason);
    this.onResponseError(null, reason);
  }

  #settle(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Names and values alternate in undici 6. */
function parseHeaders(raw: readonly Uint8Array[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = text(raw[index]).toLowerCase();
    const value = text(raw[index + 1]);
    const known = headers[name];
    headers[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
  }
  return headers;
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}
