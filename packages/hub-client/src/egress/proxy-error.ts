/** A proxy that cannot be connected to. */
export class ProxyError extends Error {
  /** Its host and port, without the credentials of its address. */
  readonly proxy: string;
  /** The code of the cause. */
  declare readonly code: string | undefined;

  constructor(address: URL, cause: Error) {
    const proxy = `${address.hostname}:${address.port || (address.protocol === 'https:' ? 443 : 80)}`;
    super(`Cannot connect to the proxy ${proxy}: ${cause.message}`, { cause });
    this.name = 'ProxyError';
    this.proxy = proxy;
    Object.defineProperty(this, 'code', { value: (cause as { code?: string }).code });
  }
}

type Done = (...outcome: [error: null, socket: never] | [error: Error, socket: null]) => void;
type Connect = (target: unknown, done: Done) => void;

/**
 * The options of a client of a proxy, as undici passes them to `clientFactory`, with a connector whose errors are
 * {@link ProxyError}s, which name the proxy.
 */
export function namingProxy(address: URL, options: object): { readonly connect: Connect } {
  const { connect } = options as { readonly connect: Connect };
  return {
    ...options,
    connect: (target, done) =>
      connect(target, (error, socket) => {
        if (error === null) done(null, socket);
        else done(new ProxyError(address, error), null);
      }),
  };
}
