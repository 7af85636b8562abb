import { createHash } from 'node:crypto';
import { type Dispatcher, EnvHttpProxyAgent, Pool, request } from 'undici';
import { namingProxy } from './egress/proxy-error.ts';
import { HubError } from './errors.ts';
import { guardConnections } from './http/guard-connections.ts';
import { contentLength, type OpenTransport, type ResponseHeaders } from './http/transport.ts';

export { openDiskCache } from './cache/disk-cache.ts';
export { parseYamlApart } from './repository/parse-yaml-apart.ts';

/** What undici sends requests through, of the version that this package depends on: an agent, a proxy agent, a mock. */
export type HttpDispatcher = Dispatcher;

/**
 * HTTP by undici. Range reads of one file run side by side, each on a separate connection: one HTTP/2
 * connection would share its flow-control window among them. Proxies are those of `HTTPS_PROXY`, `HTTP_PROXY` and
 * `NO_PROXY`, unless there is a dispatcher; a proxy decides itself what it connects to.
 *
 * @throws HubError `invalid_request` for a proxy that is no address
 */
export function openTransport(options: {
  /** The hub; where it is on a public address, no connection goes to a private one. */
  endpoint: URL;
  connectTimeoutMs: number;
  dispatcher?: HttpDispatcher;
}): OpenTransport {
  const own = options.dispatcher === undefined ? openProxies(options) : undefined;
  const dispatcher = options.dispatcher ?? own;
  return {
    async send(url, requestHeaders, signal) {
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

function openProxies(options: { endpoint: URL; connectTimeoutMs: number }): Dispatcher {
  try {
    // The exchange has timeouts for headers and body, which also hold for other transports and include connecting.
    return new EnvHttpProxyAgent({
      connect: guardConnections(options.endpoint, { timeoutMs: options.connectTimeoutMs }),
      clientFactory: (proxy, options) => new Pool(proxy, namingProxy(proxy, options)),
      proxyTls: { timeout: options.connectTimeoutMs },
      requestTls: { timeout: options.connectTimeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
  } catch {
    // Without the cause, which may hold the credentials of the address.
    const message = 'HTTP_PROXY and HTTPS_PROXY must be addresses, such as http://proxy.example:3128.';
    throw new HubError('invalid_request', message);
  }
}

function headerText(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : value.join(', ');
}

/** An incremental SHA-256. */
export function createSha256(): { update(bytes: Uint8Array): void; hex(): string } | null {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    hex: () => hash.digest('hex'),
  };
}
