import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];
const CONNECT = { connect: { timeout: 10_000 } };

/**
 * What sends the requests: through the proxies that the environment names (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, and the
 * same in lower case, which go first), else directly.
 */
export function createDispatcher(env: Readonly<Record<string, string | undefined>>): Dispatcher {
  if (PROXY_VARIABLES.every((name) => (env[name] ?? '') === '')) return new Agent(CONNECT);
  const value = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const httpProxy = value('HTTP_PROXY');
  const httpsProxy = value('HTTPS_PROXY');
  const noProxy = value('NO_PROXY');
  return new EnvHttpProxyAgent({
    ...CONNECT,
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  });
}
