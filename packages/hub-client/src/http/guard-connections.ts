import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isForbiddenAddress, isPrivateAddress } from '../egress/address-set.ts';
import { HubError } from '../errors.ts';

interface EgressRules {
  readonly connectTimeoutMs: number;
  /** The addresses of a host that may be connected to; an address only has itself. */
  allowed<T extends { readonly address: string }>(host: string, addresses: readonly T[]): readonly T[];
  refused(host: string): Error;
}

/**
 * Makes connections to the addresses that rules allow. It checks what a name resolves to when it connects, and connects
 * to just that address, so that a name cannot mean something else in between (DNS rebinding).
 *
 * @param lookup resolves names; default the system's
 */
export function guardedConnector(
  { connectTimeoutMs, allowed, refused }: EgressRules,
  lookup: LookupFunction = systemLookup as LookupFunction,
): buildConnector.connector {
  const guardedLookup: LookupFunction = (host, query, done) => {
    lookup(host, { ...query, all: true }, (error, found) => {
      const addresses = (Array.isArray(found) ? found : []) as Array<{ address: string; family: number }>;
      const kept = error === null ? allowed(host, addresses) : [];
      const [first] = kept;
      if (first === undefined) (done as (error: Error) => void)(error ?? refused(host));
      else if (query.all === true) done(null, [...kept]);
      else done(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: connectTimeoutMs, allowH2: false, lookup: guardedLookup });
  return (target, done) => {
    const host = bareHost(target.hostname);
    // Addresses are connected to without being looked up.
    if (isIP(host) !== 0 && allowed(host, [{ address: host }]).length === 0) done(refused(host), null);
    else connect(target, done);
  };
}

/** A host without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Makes connections for a hub that may redirect anywhere: if the hub itself is on a public address, nothing connects to
 * a private one. A hub on a private address, such as a company's own, may redirect to private ones, but not to
 * link-local ones, where clouds serve the credentials of a machine. A refused address is HubError `hub_bad_response`.
 */
export function guardConnections(
  endpoint: URL,
  options: { timeoutMs: number },
  lookup?: LookupFunction,
): buildConnector.connector {
  const hub = bareHost(endpoint.hostname);
  /** Null until the first connection to the hub, which decides it. */
  let hubIsPrivate: boolean | null = isIP(hub) === 0 ? null : isPrivateAddress(hub);

  function allowed<T extends { address: string }>(host: string, addresses: readonly T[]): T[] {
    if (host === hub) hubIsPrivate ??= addresses.some(({ address }) => isPrivateAddress(address));
    const isRefused = hubIsPrivate === true ? isForbiddenAddress : isPrivateAddress;
    return addresses.filter(({ address }) => address === hub || !isRefused(address));
  }
  return guardedConnector({ connectTimeoutMs: options.timeoutMs, allowed, refused }, lookup);
}

export function refused(host: string): HubError {
  return new HubError('hub_bad_response', `Cannot follow the hub to ${host}: it is on a private address`);
}
