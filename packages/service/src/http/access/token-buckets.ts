/** Clients that are kept; the least recently active one is dropped first. */
const MAX_CLIENTS = 10_000;

/** What is left of a client's limit. */
interface Allowance {
  readonly allowed: boolean;
  /** Requests that are left now. */
  readonly remaining: number;
  /** Seconds until one request is available, or, while there are some, until all are. */
  readonly resetSeconds: number;
}

/** A token bucket for each client. */
export interface TokenBuckets {
  /** Takes one request, if one is left. */
  take(client: string): Allowance;
  /** The current allowance, without taking a request. */
  look(client: string): Allowance;
}

/**
 * Makes a token bucket for each client: bursts of `perMinute` requests, refilled evenly.
 *
 * @param now a monotonic clock, in milliseconds
 */
export function createTokenBuckets(
  perMinute: number,
  now: () => number = () => performance.now(),
  maxClients: number = MAX_CLIENTS,
): TokenBuckets {
  // A map keeps insertion order: an active client moves to the end.
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / 60_000;
  const tokensOf = (client: string, at: number): number => {
    const known = buckets.get(client);
    return known === undefined ? perMinute : Math.min(perMinute, known.tokens + (at - known.at) * perMs);
  };
  const allowance = (allowed: boolean, left: number): Allowance => {
    const missing = allowed ? perMinute - left : 1 - left;
    return { allowed, remaining: Math.floor(left), resetSeconds: Math.ceil(missing / perMs / 1000) };
  };
  return {
    take: (client) => {
      const at = now();
      const tokens = tokensOf(client, at);
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.delete(client);
      buckets.set(client, { tokens: left, at });
      if (buckets.size > maxClients) buckets.delete(buckets.keys().next().value ?? '');
      return allowance(allowed, left);
    },
    look: (client) => {
      const tokens = tokensOf(client, now());
      return allowance(tokens >= 1, tokens);
    },
  };
}

/** The address; for IPv6 its network of 64 bits, because one client may own all of them (RFC 6177). */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head, tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const before = head ?? [];
  const after = tail ?? [];
  const missing = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array(missing).fill('0'), ...after].slice(0, 4).join(':');
}
