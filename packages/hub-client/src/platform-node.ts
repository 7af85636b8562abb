import { createHash } from 'node:crypto';
import { type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool, request } from 'undici';
import { isForbiddenAddress } from './egress/address-set.ts';
import { namingProxy } from './egress/proxy-error.ts';
import { HubError } from './errors.ts';
import { guardConnections, refused } from './http/guard-connections.ts';
import { contentLength, type OpenTransport, type ResponseHeaders } from './http/transport.ts';

export { openDiskCache } from './cache/cached-file.ts';
export { parseYamlApart } from './repository/parse-yaml-apart.ts';

/** What undici sends requests through, of the version that this package depends on: an agent, a proxy agent, a mock. */
export type HttpDispatcher = Dispatcher;

/**
 * HTTP by undici. Range reads of one file run side by side, each on a separate connection: one HTTP/2 connection would
 * share its flow-control window among them. Without a dispatcher, the proxies of the environment apply.
 */
export function openTransport(options: {
  /** The hub; if it is on a public address, no connection goes to a private one. */
  endpoint: URL;
  connectTimeoutMs: number;
  dispatcher?: HttpDispatcher;
}): OpenTransport {
  const own = options.dispatcher === undefined ? proxiesTo(options) : undefined;
  const dispatcher = options.dispatcher ?? own;
  return {
    async send(url, requestHeaders, signal) {
      // A proxy decides itself what it connects to, but nobody is led to the credentials of its machine.
      const isElsewhere = url.hostname !== options.endpoint.hostname;
      if (own !== undefined && isElsewhere && isForbiddenAddress(url.hostname)) throw refused(url.hostname);
      const response = await request(url, {
        headers: requestHeaders,
        signal,
        ...(dispatcher && { dispatcher }),
      });
      const headers: ResponseHeaders = { get: (name) => headerText(response.headers[name]) };
      const contentEncoding = headers.get('content-encoding');
      return {
        status: response.statusCode,
        headers,
        url,
        bodyLength: contentEncoding === null ? contentLength(headers) : null,
        contentEncoding,
        body: response.body,
      };
    },
    async close() {
      // Bun's own undici has agents that cannot be destroyed.
      await own?.destroy?.();
    },
  };
}

function proxiesTo({ endpoint, connectTimeoutMs }: { endpoint: URL; connectTimeoutMs: number }): Dispatcher {
  const connect = guardConnections(endpoint, { timeoutMs: connectTimeoutMs });
  try {
    // The exchange has timeouts for headers and body, which include connecting and apply to other transports too.
    return openProxies({ connect, connectTimeoutMs });
  } catch (error) {
    throw new HubError('invalid_request', (error as Error).message);
  }
}

function headerText(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : value.join(', ');
}

export function createSha256(): { update(bytes: Uint8Array): void; hex(): string } | null {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    hex: () => hash.digest('hex'),
  };
}

/**
 * Connections, through the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` if these are set. A proxy resolves
 * names itself and decides what it connects to. Requests have no time-outs of their own. Destroy it to close them.
 *
 * @param connect makes the connections that go to no proxy, see `guardConnections`
 * @throws Error for a proxy that is no address, without the address, which may hold credentials
 */
export function openProxies(options: {
  readonly connect: buildConnector.connector;
  readonly connectTimeoutMs: number;
}): EnvHttpProxyAgent {
  const tls = { timeout: options.connectTimeoutMs };
  try {
    return new EnvHttpProxyAgent({
      connect: options.connect,
      clientFactory: (proxy, options) => new Pool(proxy, namingProxy(proxy, options)),
      proxyTls: tls,
      requestTls: tls,
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
  } catch {
    throw new Error('HTTP_PROXY and HTTPS_PROXY must be addresses, such as http://proxy.example:3128.');
  }
}
