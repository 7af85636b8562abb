import type { IncomingMessage } from 'node:http';
import {
  type AllowedHost,
  type Authority,
  hostNameOf,
  isLoopback,
  parseAuthority,
  type Scheme,
} from '../../config/authority.ts';

/** The host that a request names, or why it is rejected. */
type HostVerdict =
  | { readonly authority: Authority }
  | { readonly refused: 'invalid_request' | 'misdirected_request'; readonly detail: string };

export interface HostCheckOptions {
  /** The configured address that we listen on. */
  readonly listenHost: string;
  readonly allowedHosts: readonly AllowedHost[];
  /** Whether requests need a key: names are then checked only if some are configured. */
  readonly isKeyed: boolean;
}

export type HostCheck = (
  request: Pick<IncomingMessage, 'rawHeaders' | 'url' | 'httpVersion' | 'socket'>,
  scheme: Scheme,
) => HostVerdict;

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/**
 * Checks the host that a request names. A page whose name was re-pointed to this machine (DNS rebinding) is same-origin
 * with us; only its name in `Host` distinguishes its requests from requests of the service's pages.
 *
 * Our names are `localhost`, 127.0.0.0/8 and `[::1]` at any port, since tunnels and containers forward other ports to ours
 * and no page of another machine has such a name, and the address that we listen on with its port. When we listen on all
 * addresses, the address of the connection counts too: the name of a page cannot be an address.
 */
export function createHostCheck({ listenHost, allowedHosts, isKeyed }: HostCheckOptions): HostCheck {
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

  return ({ rawHeaders, url, httpVersion, socket }, scheme) => {
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
