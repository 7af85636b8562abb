import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { isForbiddenAddress } from '../egress/forbidden-address.ts';
import { bareHost, guardedConnector } from '../egress/guarded-connector.ts';
import { isPrivateAddress } from '../egress/private-address.ts';
import { HubError } from '../errors.ts';

/**
 * Makes connections for a hub that may redirect anywhere: where the hub itself is on a public address, nothing connects to
 * a private one. A hub on a private address, such as one of a company's own, may redirect to private ones, but not to
 * link-local ones, where clouds serve the credentials of a machine.
 *
 * The connector fails with HubError `hub_bad_response` where an address is refused.
 *
 * @param endpoint the hub's own address
 * @param lookup resolves names; default the system's
 */
export function guardConnections(
  endpoint: URL,
  options: { timeoutMs: number },
  lookup?: LookupFunction,
): buildConnector.connector {
  const hub = bareHost(endpoint.hostname);
  /** null until the hub has been connected to for the first time; then it stays what it was found to be. */
  let hubIsPrivate: boolean | null = isIP(hub) === 0 ? null : isPrivateAddress(hub);

  function allowed<T extends { address: string }>(host: string, addresses: readonly T[]): T[] {
    if (host === hub) hubIsPrivate ??= addresses.some(({ address }) => isPrivateAddress(address));
    const isRefused = hubIsPrivate === true ? isForbiddenAddress : isPrivateAddress;
    return addresses.filter(({ address }) => address === hub || !isRefused(address));
  }
  return guardedConnector({ connectTimeoutMs: options.timeoutMs, allowed, refused }, lookup);
}

/** The error of an address that the hub leads to. */
export function refused(host: string): HubError {
  return new HubError('hub_bad_response', `Cannot follow the hub to ${host}: it is on a private address`);
}
