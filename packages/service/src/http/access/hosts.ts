import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import {
  type AllowedHost,
  type Authority,
  hostNameOf,
  isLoopback,
  isOrigin,
  parseAuthority,
  type Scheme,
} from '../../config/authority.ts';
import type { Config } from '../../config/load-config.ts';
import { RequestError } from '../request/request-error.ts';

type HostVerdict =
  | { readonly authority: Authority }
  | { readonly refused: 'invalid_request' | 'misdirected_request'; readonly detail: string };

export interface HostCheckOptions {
  readonly listenHost: string;
  readonly allowedHosts: readonly AllowedHost[];
  readonly isKeyed: boolean;
}

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/**
 * Checks the host that a request names. A page whose name was re-pointed to this machine (DNS rebinding) is same-origin
 * with us; only its name in `Host` distinguishes its requests from requests of the service's pages.
 *
 * Our names are `localhost`, 127.0.0.0/8 and `[::1]` at any port, since tunnels and containers forward other ports to ours
 * and no page of another machine has such a name, and the address that we listen on with its port. When we listen on all
 * addresses, the address of the connection counts too: the name of a page cannot be an address.
 */
export function createHostCheck({ listenHost, allowedHosts, isKeyed }: HostCheckOptions) {
  const listenName = hostNameOf(listenHost);
  const isEverywhere = WILDCARDS.has(listenName);
  const isChecked = !isKeyed || allowedHosts.length > 0;

  const isAllowed = ({ name, port }: Authority, socket: IncomingMessage['socket']): boolean => {
    if (allowedHosts.some((host) => host.name === name && (host.port ?? port) === port)) return true;
    if (isLoopback(name)) return true;
    if (port !== socket.localPort) return false;
    if (name === listenName) return true;
    return isEverywhere && name === hostNameOf((socket.localAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, ''));
  };

  type Named = Pick<IncomingMessage, 'rawHeaders' | 'url' | 'httpVersion' | 'socket'>;
  return ({ rawHeaders, url, httpVersion, socket }: Named, scheme: Scheme): HostVerdict => {
    const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && isHostName(rawHeaders[index - 1]));
    if (hosts.length > 1) return malformed('A request must have one Host header, got several.');
    if (hosts.length === 0 && httpVersion === '1.1') return malformed('Missing Host header.');
    const inHeader = parseAuthority(hosts[0] ?? '', scheme);
    if (inHeader === null) return malformed('The Host header must be a host with an optional port.');
    // The host of an absolute target takes precedence (RFC 9112 section 3.2.2).
    const target = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url ?? '')?.[1];
    const authority = target === undefined ? inHeader : parseAuthority(target, scheme);
    if (authority === null) return malformed('The request target must name a host with an optional port.');
    if (isChecked && !(isAllowed(inHeader, socket) && isAllowed(authority, socket))) {
      const detail =
        'The host of this request is not one of this service. The operator can add names in SVC_ALLOWED_HOSTS.';
      return { refused: 'misdirected_request', detail };
    }
    return { authority };
  };
}

const isHostName = (name: string | undefined): boolean => name?.length === 4 && name.toLowerCase() === 'host';

const malformed = (detail: string): HostVerdict => ({ refused: 'invalid_request', detail });

type HostConfig = Pick<Config, 'host' | 'allowedHosts' | 'trustProxy' | 'corsOrigins'>;

/** Methods that change nothing (RFC 9110 section 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Rejects requests for other hosts, see `createHostCheck`, and changes that pages of other origins request. Browsers
 * name the origin of each such request (`Origin`, Fetch standard, and `Sec-Fetch-Site`, Fetch Metadata). Reads nothing
 * of the body.
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

type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * The scheme that the client used. The service itself speaks plain HTTP; with `trustProxy`, the proxy in front of it
 * states the scheme in `X-Forwarded-Proto`.
 */
export function schemeOf({ headers }: Arrived, trustProxy: boolean): Scheme {
  return trustProxy && nearest(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http';
}

/** The origins of the service as clients write them: from `Host`, and with `trustProxy` from any `X-Forwarded-Host`. */
export function originsOf(request: Arrived, trustProxy: boolean): readonly string[] {
  const { host, 'x-forwarded-host': forwarded } = request.headers;
  const hosts = [host, trustProxy ? nearest(forwarded) : undefined];
  const addresses = hosts.filter(Boolean).map((name) => `${schemeOf(request, trustProxy)}://${name}`);
  return [...new Set(addresses.filter((one) => URL.canParse(one)).map((one) => new URL(one).origin))];
}

/** The address of the client; with `trustProxy`, the one that the proxy added to `X-Forwarded-For`. */
export function addressOf({ headers, socket }: Arrived, trustProxy: boolean): string {
  const forwarded = trustProxy ? nearest(headers['x-forwarded-for']) : undefined;
  return (forwarded || socket.remoteAddress) ?? '';
}

/** The last entry of a list: our proxy wrote it; clients can forge all entries before it. */
function nearest(header: string | string[] | undefined): string | undefined {
  return String(header ?? '')
    .slice(-256)
    .split(',')
    .at(-1)
    ?.trim();
}
