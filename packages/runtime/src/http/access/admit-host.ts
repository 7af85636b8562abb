import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/load-config.ts';
import type { Middleware } from '../request/middleware.ts';
import { RequestError } from '../request/request-error.ts';
import { parseAuthority } from './authority.ts';
import { createHostCheck } from './check-host.ts';
import { schemeOf } from './forwarded.ts';

type HostConfig = Pick<Config, 'host' | 'allowedHosts' | 'apiKeys' | 'trustProxy' | 'corsOrigins'>;

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Which requests get past us; the layer refuses the others. */
export interface Admission {
  readonly layer: Middleware;
  /** whether the layer would let a request pass */
  readonly admits: (request: IncomingMessage) => boolean;
}

/**
 * Lets only those requests in that are meant for this service, and changes only from pages that may make them: see
 * `createHostCheck` for the first; the second stands on what browsers add to every request that a page makes
 * (`Origin`, Fetch standard, and `Sec-Fetch-Site`, Fetch Metadata). Neither reads a byte of the body.
 */
export function admitHost(config: HostConfig): Admission {
  const { trustProxy, corsOrigins } = config;
  const checkHost = createHostCheck({
    listenHost: config.host,
    allowedHosts: config.allowedHosts,
    isKeyed: config.apiKeys.length > 0,
  });

  const refusalOf = (request: IncomingMessage): RequestError | null => {
    const scheme = schemeOf(request, trustProxy);
    const verdict = checkHost(request, scheme);
    if ('refused' in verdict) return new RequestError(verdict.refused, verdict.detail);
    if (SAFE_METHODS.has(request.method ?? '')) return null;
    const { origin } = request.headers;
    if (origin !== undefined && (corsOrigins.includes('*') || corsOrigins.includes(origin))) return null;
    const site = request.headers['sec-fetch-site'];
    if (site === 'cross-site' || site === 'same-site') return foreign('a page of another site');
    if (origin === undefined) return null;
    const { name, port } = verdict.authority;
    const [, originScheme, host = ''] = /^(https?):\/\/(.*)$/.exec(origin) ?? [];
    const page = originScheme === scheme ? parseAuthority(host, scheme) : null;
    if (page !== null && page.name === name && page.port === port) return null;
    return foreign('a page of another origin');
  };

  return {
    layer: (request, _response, next) => {
      const refusal = refusalOf(request);
      if (refusal !== null) throw refusal;
      next();
    },
    admits: (request) => refusalOf(request) === null,
  };
}

function foreign(who: string): RequestError {
  return new RequestError(
    'cross_origin',
    `${who} may change nothing here; the operator allows origins in SVC_CORS_ORIGINS, and tells of HTTPS in front of the service by SVC_TRUST_PROXY`,
  );
}
