import { isIPv4, isIPv6 } from 'node:net';

export type Scheme = 'http' | 'https';

/** A host and port that a request is for, in one spelling. */
export interface Authority {
  /** Lower case, without a trailing dot; an IPv6 address in brackets; empty if the text has none. */
  readonly name: string;
  readonly port: number;
}

/** A host name that requests may name in addition to our own; without a port, at every port. */
export interface AllowedHost {
  readonly name: string;
  readonly port: number | undefined;
}

const DEFAULT_PORT: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/** `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2): no user information, no path, ASCII alone. */
const AUTHORITY = /^(?:\[([0-9a-f:.]{2,45})\]|([\w.~!$&'()*+,;=%-]{0,255}))(?::(\d{0,5}))?$/i;

export function parseAuthority(text: string, scheme: Scheme): Authority | null {
  const match = AUTHORITY.exec(text);
  if (match === null) return null;
  const [, address, name = '', digits = ''] = match;
  const port = digits === '' ? DEFAULT_PORT[scheme] : Number(digits);
  if (port > 65_535) return null;
  if (address === undefined) return { name: name.toLowerCase().replace(/\.$/, ''), port };
  return isIPv6(address) ? { name: hostNameOf(address), port } : null;
}

export function isOrigin(origin: string, own: Authority | null, scheme: Scheme): boolean {
  const [, stated, host = ''] = /^(https?):\/\/(.*)$/.exec(origin) ?? [];
  const page = stated === scheme ? parseAuthority(host, scheme) : null;
  return page !== null && page.name === own?.name && page.port === own.port;
}

/** Whether a name names this machine, whatever resolves it. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

/** The host of a URL for this address or name: any spelling of `::1` becomes `[::1]`. */
export function hostNameOf(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const url = URL.parse(isIPv6(bare) ? `http://[${bare}]` : `http://${bare}`);
  return (url?.hostname ?? bare.toLowerCase()).replace(/\.$/, '');
}
