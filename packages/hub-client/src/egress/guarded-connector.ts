import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

/** What may be connected to. */
export interface EgressRules {
  readonly connectTimeoutMs: number;
  /** Of the addresses of a host, those that may be connected to; an address has itself. */
  allowed<T extends { readonly address: string }>(host: string, addresses: readonly T[]): readonly T[];
  /** The error for a host without one. */
  refused(host: string): Error;
}

/**
 * Makes connections to the addresses that rules allow. What a name resolves to is looked at when the connection is made,
 * and the connection goes to just that address, so that a name cannot mean something else in between (DNS rebinding).
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
