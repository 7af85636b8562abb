import { isIP, type LookupFunction } from 'node:net';
import { bareHost, type Dispatcher, guardedConnector, openProxies } from '@svc/hub-client/connections';
import { isForbiddenAddress } from '@svc/hub-client/egress';

export interface ProviderDispatcherOptions {
  /** `host` or `host:port` as in URLs; null allows every host. */
  readonly allowedHosts: readonly string[] | null;
  readonly lookup?: LookupFunction;
}

export type ProviderDispatcher = ReturnType<typeof createProviderDispatcher>;

/** A run must not send to this destination. Nothing was sent. */
export class ForbiddenDestination extends Error {
  override readonly name = 'ForbiddenDestination';
}

/** A request has one deadline, but a host that does not answer must not use up all of it. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Sends requests over connections that stay open between them, through the proxies of the environment where these are set.
 * It checks the address of each connection, so that a name cannot pass the check with one address and connect to another
 * (DNS rebinding). A proxy resolves names itself: in front of one, the host of the request is checked.
 *
 * @throws Error for a proxy that is no address
 */
export function createProviderDispatcher(options: ProviderDispatcherOptions) {
  const allowed = options.allowedHosts === null ? null : new Set(options.allowedHosts);
  const connect = guardedConnector(
    {
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      allowed: (_, addresses) => addresses.filter(({ address }) => !isForbiddenAddress(address)),
      refused: () => new ForbiddenDestination(),
    },
    options.lookup,
  );
  const agent = openProxies({ connect, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  return {
    /** @throws ForbiddenDestination before anything is sent, to a proxy either */
    async request(request: Dispatcher.RequestOptions & { readonly origin: string }) {
      const url = new URL(request.origin);
      const host = bareHost(url.hostname);
      const isForbidden = isIP(host) !== 0 && isForbiddenAddress(host);
      if (isForbidden || !isAllowed(allowed, url)) throw new ForbiddenDestination();
      return await agent.request(request);
    },
    destroy: (): Promise<void> => agent.destroy(),
  };
}

function isAllowed(allowed: ReadonlySet<string> | null, { hostname, port, protocol }: URL): boolean {
  const effectivePort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return allowed === null || allowed.has(hostname) || allowed.has(`${hostname}:${effectivePort}`);
}
