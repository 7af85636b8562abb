import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isForbiddenAddress } from '@svc/hub-client/egress';
import { Agent, buildConnector, type Dispatcher } from 'undici';

export interface ProviderDispatcherOptions {
  /** `host` or `host:port` as in URLs; null allows every host. */
  readonly allowedHosts: readonly string[] | null;
  /** Resolves names. Default: the system's lookup. */
  readonly lookup?: LookupFunction;
}

/** A run must not send to this destination. Nothing was sent. */
export class ForbiddenDestination extends Error {
  override readonly name = 'ForbiddenDestination';
}

/**
 * Connections to providers, kept open between requests. Close it when the worker stops.
 *
 * It checks the address of each connection, so that a name cannot pass the check with one address and connect to
 * another (DNS rebinding). Requests to a forbidden destination fail with {@link ForbiddenDestination}.
 */
export function createProviderDispatcher(options: ProviderDispatcherOptions): Dispatcher {
  const { allowedHosts, lookup = systemLookup } = options;
  const allowed = allowedHosts === null ? null : new Set(allowedHosts);
  const connect = buildConnector({ timeout: 10_000, lookup: allowingLookup(lookup) });
  return new Agent({
    connect: (target, callback) => {
      // The lookup checks names; addresses are not looked up.
      const isForbidden = isIP(target.hostname) !== 0 && isForbiddenAddress(target.hostname);
      if (isForbidden || !isAllowed(allowed, target)) callback(new ForbiddenDestination(), null);
      else connect(target, callback);
    },
    // A request has one deadline, so the timeouts of its parts are off.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function isAllowed(allowed: ReadonlySet<string> | null, target: buildConnector.Options): boolean {
  const { hostname, port, protocol } = target;
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  const effectivePort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return allowed === null || allowed.has(host) || allowed.has(`${host}:${effectivePort}`);
}

/** A lookup without forbidden addresses; a name that has no others is a forbidden destination. */
function allowingLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const addresses = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }];
      const usable = addresses.filter(({ address }) => !isForbiddenAddress(address));
      const [first] = usable;
      if (first === undefined) callback(new ForbiddenDestination(), []);
      else if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}
