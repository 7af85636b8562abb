import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { type Authority, hostNameOf, parseAuthority, type Scheme } from './authority.ts';

/** A host name that requests may be for, beside our own; without a port, at every port. */
export interface AllowedHost {
  readonly name: string;
  readonly port: number | undefined;
}

/** Who a request says that it is for, or why it gets no answer. */
export type HostVerdict =
  | { readonly authority: Authority }
  | { readonly refused: 'invalid_request' | 'misdirected_request'; readonly detail: string };

export interface HostCheckOptions {
  /** the address that we listen on, as it is configured */
  readonly listenHost: string;
  readonly allowedHosts: readonly AllowedHost[];
  /** whether a key stands before what is served: then the names are checked only where some are configured */
  readonly isKeyed: boolean;
}

export type HostCheck = (
  request: Pick<IncomingMessage, 'rawHeaders' | 'url' | 'httpVersion' | 'socket'>,
  scheme: Scheme,
) => HostVerdict;

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/**
 * Checks the host that a request is for. A page whose name was re-pointed to this machine (DNS rebinding) is
 * same-origin with us; its name in `Host` is all that tells its requests from those of our own pages.
 *
 * Ours are `localhost`, 127.0.0.0/8, `[::1]` and the address that we listen on, with the port that we listen on. Where
 * we listen on all addresses, ours is the one that the connection came in at: a page cannot have an address for a name.
 */
export function createHostCheck({ listenHost, allowedHosts, isKeyed }: HostCheckOptions): HostCheck {
  const listenName = hostNameOf(listenHost);
  const isEverywhere = WILDCARDS.has(listenName);
  const isChecked = !isKeyed || allowedHosts.length > 0;

  const isAllowed = ({ name, port }: Authority, socket: IncomingMessage['socket']): boolean => {
    if (allowedHosts.some((host) => host.name === name && (host.port ?? port) === port)) return true;
    if (port !== socket.localPort) return false;
    if (name === 'localhost' || name === '[::1]' || name === listenName) return true;
    if (isIPv4(name) && name.startsWith('127.')) return true;
    return isEverywhere && name === hostNameOf((socket.localAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, ''));
  };

  return ({ rawHeaders, url, httpVersion, socket }, scheme) => {
    const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && isHostName(rawHeaders[index - 1]));
    if (hosts.length > 1) return malformed('a request has one Host header');
    if (hosts.length === 0 && httpVersion === '1.1') return malformed('an HTTP/1.1 request names its host');
    const inHeader = parseAuthority(hosts[0] ?? '', scheme);
    if (inHeader === null) return malformed('the Host header is no host with an optional port');
    // Of a request for an absolute target, that host is meant (RFC 9112 section 3.2.2).
    const target = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url ?? '')?.[1];
    const authority = target === undefined ? inHeader : parseAuthority(target, scheme);
    if (authority === null) return malformed('the target is no URL of a host with an optional port');
    if (isChecked && !(isAllowed(inHeader, socket) && isAllowed(authority, socket))) {
      const detail =
        'the host of this request is not one of this service; the operator names more in SVC_ALLOWED_HOSTS';
      return { refused: 'misdirected_request', detail };
    }
    return { authority };
  };
}

const isHostName = (name: string | undefined): boolean => name?.length === 4 && name.toLowerCase() === 'host';

const malformed = (detail: string): HostVerdict => ({ refused: 'invalid_request', detail });
