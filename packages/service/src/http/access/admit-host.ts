import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { isOrigin } from '../../config/authority.ts';
import type { Config } from '../../config/load-config.ts';
import { RequestError } from '../request/request-error.ts';
import { createHostCheck } from './check-host.ts';
import { schemeOf } from './forwarded.ts';

type HostConfig = Pick<Config, 'host' | 'allowedHosts' | 'trustProxy' | 'corsOrigins'>;

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Rejects requests for other hosts, see `createHostCheck`, and changes that pages of other origins request. Browsers
 * name the origin of each such request (`Origin`, Fetch standard, and `Sec-Fetch-Site`, Fetch Metadata). Reads nothing
 * of the body.
 *
 * @param isKeyed whether everything that is worth protecting needs a key
 * @throws RequestError `misdirected_request`, `invalid_request`, `cross_origin`
 */
export function admitHost(config: HostConfig, isKeyed: boolean): RequestHandler {
  const { host: listenHost, allowedHosts, trustProxy, corsOrigins } = config;
  const checkHost = createHostCheck({ listenHost, allowedHosts, isKeyed });

  const rejectionOf = (request: IncomingMessage): RequestError | null => {
    const scheme = schemeOf(request, trustProxy);
    const verdict = checkHost(request, scheme);
    if ('refused' in verdict) return new RequestError(verdict.refused, verdict.detail);
    if (SAFE_METHODS.has(request.method ?? '')) return null;
    const { origin } = request.headers;
    if (origin !== undefined && (corsOrigins.includes('*') || corsOrigins.includes(origin))) return null;
    const site = request.headers['sec-fetch-site'];
    if (site === 'cross-site' || site === 'same-site') return crossOrigin('site');
    if (origin === undefined) return null;
    return isOrigin(origin, verdict.authority, scheme) ? null : crossOrigin('origin');
  };

  return (request, _response, next) => {
    const rejection = rejectionOf(request);
    if (rejection !== null) throw rejection;
    next();
  };
}

function crossOrigin(what: 'site' | 'origin'): RequestError {
  return new RequestError(
    'cross_origin',
    `Pages of another ${what} cannot make changes. The operator can allow origins in SVC_CORS_ORIGINS, and must set SVC_TRUST_PROXY behind a proxy that terminates HTTPS.`,
  );
}
