import { type buildConnector, EnvHttpProxyAgent, Pool } from 'undici';
import { namingProxy } from './proxy-error.ts';

/**
 * Connections, through the proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` where these are set. A proxy resolves
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
